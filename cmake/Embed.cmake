# SPDX-License-Identifier: MIT
# ce_embed(SYMBOL file out): a C file in the build folder, whose path goes into `out`, with
#   const unsigned char SYMBOL[]: the bytes of the file and a NUL. Programs need no file beside them.
# The same file is the script that writes it: cmake -DINPUT=… -DOUTPUT=… -DSYMBOL=… -P Embed.cmake
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ ${INPUT} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  file(WRITE ${OUTPUT} "extern const unsigned char ${SYMBOL}[];\nconst unsigned char ${SYMBOL}[] = {\n${bytes}0x00};\n")
  return()
endif()

set(CE_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(ce_embed symbol file out)
  get_filename_component(input ${file} ABSOLUTE)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c)
  add_custom_command(OUTPUT ${output} VERBATIM DEPENDS ${input} ${CE_EMBED_SCRIPT}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${input} -DOUTPUT=${output} -DSYMBOL=${symbol}
      -P ${CE_EMBED_SCRIPT})
  set(${out} ${output} PARENT_SCOPE)
endfunction()
