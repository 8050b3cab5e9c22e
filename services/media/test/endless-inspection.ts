// Runs in the place of the program that inspects a file, and behaves like one that its file has taken over: it reports
// progress for ever.
process.once("message", () => {
  setInterval(() => process.send?.({ kind: "progress" }), 10);
});
