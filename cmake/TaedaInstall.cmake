# Install rules: headers, libraries, program, CMake package and pkg-config file, all relocatable.
# SPDX-License-Identifier: Apache-2.0
