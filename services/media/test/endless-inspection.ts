// Test program that runs instead of the program of an inspection process. It behaves like a process
// that a hostile file has taken over: it reports progress for ever.
process.once("message", () => {
  setInterval(() => process.send?.({ kind: "progress" }), 10);
});
