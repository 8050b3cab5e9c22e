// Test program that runs instead of the program of an inspection process. It takes its file and
// never answers.
process.once("message", () => undefined);
