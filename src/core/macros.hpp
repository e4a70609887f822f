#pragma once

// The macros that only the library's own code uses. The assembled header defines them at the start of each half and
// undefines them at its end.

// The mode is part of every mangled name: files that disagree fail to link instead of sharing half a library.
#if MOCK_GATEWAY_HEADER_ONLY
#define MOCK_GATEWAY_ABI header_only_0_1
#define MOCK_GATEWAY_INLINE inline
#else
#define MOCK_GATEWAY_ABI compiled_0_1
#define MOCK_GATEWAY_INLINE
#endif
