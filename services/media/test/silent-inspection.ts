// Test program that runs instead of the program of an inspection process. It takes its file and
// never answers; a listener for one message alone would let it end.
process.on("message", () => undefined);
