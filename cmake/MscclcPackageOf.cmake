# What depends on the kind of package: an archive has one folder that holds all, a package of Debian has /usr.
if(CPACK_GENERATOR MATCHES "^T")
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
endif()
