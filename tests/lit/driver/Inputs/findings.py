"""Reads a document of findings from standard input and prints what it says. The argument is its form."""
import json
import sys

document = json.load(sys.stdin)


def required(value, *fields):
    """Fails unless the object has these fields, which the schema of SARIF 2.1.0 requires or GitHub needs."""
    for field in fields:
        assert field in value, f"{field} is missing in {value}"


def print_json():
    required(document, "tool", "exit", "findings")
    print("exit", document["exit"])
    for finding in document["findings"]:
        required(finding, "input", "severity", "message")
        print(finding["severity"], finding.get("name"), finding.get("line"), finding.get("column"), finding.get("parameters"))
        for note in finding.get("notes", []):
            print("  note", note.get("line"), note.get("column"), note["message"])


def print_sarif():
    required(document, "$schema", "version", "runs")
    assert document["version"] == "2.1.0"
    for run in document["runs"]:
        required(run, "tool", "results", "columnKind")
        driver = run["tool"]["driver"]
        required(driver, "name", "version", "rules")
        for invocation in run["invocations"]:
            required(invocation, "executionSuccessful")
            print("successful", invocation["executionSuccessful"], "exit", invocation["exitCode"])
        for result in run["results"]:
            required(result, "ruleId", "ruleIndex", "level", "message", "locations")
            rule = driver["rules"][result["ruleIndex"]]
            assert rule["id"] == result["ruleId"]
            if rule["id"] != "clang":
                assert rule["help"]["text"].startswith("## " + rule["id"])
            places = []
            for location in result["locations"] + result.get("relatedLocations", []):
                physical = location["physicalLocation"]
                required(physical["artifactLocation"], "uri")
                assert physical["region"]["startLine"] >= 1
                places.append((physical["artifactLocation"]["uri"].rsplit("/", 1)[-1], physical["region"]["startLine"],
                               physical["region"].get("startColumn")))
            for related in result.get("relatedLocations", []):
                required(related, "id", "message")
            print(result["level"], result["ruleId"], *places[:2])
            print("  text:", result["message"]["text"])


{"json": print_json, "sarif": print_sarif}[sys.argv[1]]()
