// Test program that runs instead of the program of an inspection process. It loads like that one,
// and crashes when it gets its file.
process.once("message", () => process.exit(1));
process.send?.({ kind: "progress" });
