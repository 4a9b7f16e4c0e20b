// A file that fails for another reason than the one it names.
// expect: a policy needs a victim function

static_assert(sizeof(int) == 1, "bytes are too small");
