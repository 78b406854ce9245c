# The samples of which kernels are made for the library in NCCL's place, until a tuner chooses. One a line:
#   COLLECTIVE SAMPLE RANKS MIN MAX IN_PLACE [PARAMETER=VALUE…]
# for messages of MIN to MAX bytes of RANKS ranks (*: any number). IN_PLACE says whether the sample works in place.
#
# Listed are those sizes where the time model says that the kernel wins against NCCL's published times
# (python/mscclc/published.csv), by more than the model is off and with the copies to windows and back; nccl.list checks it. All
# else is NCCL's, and so are collectives of which no times are published.
set(mscclc_nccl_samples
  "allreduce allreduce_packets 8 0 262144 true"
  "allreduce allreduce_allpairs 8 262145 8388608 true"
  "allreduce allreduce_packets 4 0 262144 true"
  "allreduce allreduce_allpairs 4 262145 1048576 true"
  "alltoall alltoall 8 0 65536 false")

# mscclc_nccl_emitted(FILE SAMPLE PARAMETER=VALUE…): emits a kernel.
function(mscclc_nccl_emitted file sample)
  set(source "${mscclc_SOURCE_DIR}/samples/${sample}.cpp")
  list(TRANSFORM ARGN PREPEND "-P" OUTPUT_VARIABLE parameters)
  cmake_path(GET file STEM name)
  # What the process holds to its end is no leak.
  add_custom_command(OUTPUT "${file}"
    COMMAND "${CMAKE_COMMAND}" -E env ASAN_OPTIONS=detect_leaks=0 $<TARGET_FILE:mscclc_tool> "${source}" -O2
            ${parameters} --emit-cuda -o "${file}"
    DEPENDS "${source}" mscclc_tool mscclc_program COMMENT "Baking ${name}" VERBATIM)
endfunction()

# mscclc_nccl_emit(FOLDER RANKS [LAST_PARAMETER…]): emits the kernels for so many ranks as FOLDER/SAMPLE_RANKS.cu, with
# further parameters for those that have them. In the caller: ${emitted}, "SAMPLE_RANKS" each; ${entries}, their part of
# the manifest.
function(mscclc_nccl_emit folder ranks)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "" "PARAMETERS")
  set(names "")
  set(json "")
  set(before "")
  file(MAKE_DIRECTORY "${folder}")
  foreach(line IN LISTS mscclc_nccl_samples)
    separate_arguments(words UNIX_COMMAND "${line}")
    list(POP_FRONT words collective sample of_ranks min max in_place)
    if(NOT of_ranks STREQUAL "*" AND NOT of_ranks EQUAL ranks)
      continue()
    endif()
    set(source "${mscclc_SOURCE_DIR}/samples/${sample}.cpp")
    set(parameters "ranks=${ranks}")
    file(STRINGS "${source}" signature REGEX "^MSCCLC_ALGORITHM")
    foreach(parameter IN LISTS words ARG_PARAMETERS)
      string(REGEX REPLACE "=.*" "" parameter_name "${parameter}")
      if(signature MATCHES " ${parameter_name} = ")
        list(APPEND parameters "${parameter}")
      endif()
    endforeach()
    set(name "${sample}_${ranks}")
    mscclc_nccl_emitted("${folder}/${name}.cu" ${sample} ${parameters})
    list(APPEND names "${name}")
    set(entry "{\"min\": ${min}, \"max\": ${max}, \"in_place\": ${in_place}, \"kernel\": \"${name}.so\", ")
    string(APPEND entry "\"name\": \"${sample}\", \"source\": \"samples/${sample}.cpp\"}")
    if(collective STREQUAL before)
      string(REGEX REPLACE "]}$" ",\n       ${entry}]}" json "${json}")
    else()
      if(json)
        string(APPEND json ",\n")
      endif()
      string(APPEND json "    {\"collective\": \"${collective}\", \"ranks\": ${ranks}, \"ranks_per_node\": ${ranks},\n"
                         "     \"entries\": [${entry}]}")
    endif()
    set(before "${collective}")
  endforeach()
  set(emitted "${names}" PARENT_SCOPE)
  set(entries "${json}" PARENT_SCOPE)
endfunction()

# mscclc_nccl_types(VARIABLE SAMPLE_RANKS TYPES): the types that a kernel is compiled for: TYPES, or bytes where it only
# moves them.
function(mscclc_nccl_types variable name types)
  if(NOT name MATCHES "reduce")
    set(types uint8_t)
  endif()
  set(${variable} "${types}" PARENT_SCOPE)
endfunction()

# mscclc_nccl_manifest(FILE ENTRIES… [ARCHITECTURES N…]): writes the list of a folder, of kernels for these GPUs.
function(mscclc_nccl_manifest file)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "ARCHITECTURES")
  list(JOIN ARG_UNPARSED_ARGUMENTS ",\n" all)
  set(architectures "")
  if(ARG_ARCHITECTURES)
    list(JOIN ARG_ARCHITECTURES ", " architectures)
    set(architectures "\"architectures\": [${architectures}], ")
  endif()
  file(CONFIGURE OUTPUT "${file}" @ONLY
       CONTENT "{\"version\": 1, \"size\": \"message\", @architectures@\n  \"collectives\": [\n@all@]}\n")
endfunction()
