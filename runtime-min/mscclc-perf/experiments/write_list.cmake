# cmake -DOUTPUT=… -DPROGRAMS=… -P write_list.cmake: the programs, IR text, as experiment_list.h says.
cmake_minimum_required(VERSION 3.25)
set(literals "")
foreach(program IN LISTS PROGRAMS)
  file(READ "${program}" text)
  string(APPEND literals "    R\"ir(${text})ir\",\n")
endforeach()
file(WRITE "${OUTPUT}" "#include \"experiment_list.h\"

extern \"C\" {
extern const MscclcExperiment mscclc_experiments[];
const MscclcExperiment mscclc_experiments[] = {
${literals}    nullptr};
}
")
