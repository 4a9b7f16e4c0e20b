// A file that compiles, so the test that expects a failure of it must fail.
// expect: this sentence is never said

int main() { return 0; }
