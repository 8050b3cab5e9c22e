import { execFile } from "node:child_process";
import { expect, test } from "vitest";

const LIFECYCLE = JSON.stringify(new URL("lifecycle.ts", import.meta.url).href);

/** Runs the code in a process of its own, and returns its exit code and its output. */
async function run(code: string) {
  const script = `const { runProcess, stopAndFail } = await import(${LIFECYCLE});\n${code}`;
  const { promise, resolve } = Promise.withResolvers<{ exitCode: unknown; output: string }>();
  execFile(process.execPath, ["--input-type=module", "-e", script], (error, output) =>
    resolve({ exitCode: error?.code ?? 0, output }),
  );
  return await promise;
}

const APP = `
  setInterval(() => undefined, 60_000);
  const { promise: isCalled, resolve: endCall } = Promise.withResolvers();
  const app = {
    logger: { info: () => undefined, error: () => undefined },
    [Symbol.asyncDispose]: async () => {
      await isCalled;
      process.stdout.write("the outcome is stored");
    },
  };
  await runProcess(async () => app, { graceMs: 60_000 });
`;

test("a process that cannot continue waits for the calls in progress before it exits with 1", async () => {
  const end = await run(`${APP} stopAndFail(); stopAndFail(); setImmediate(endCall);`);
  expect(end).toEqual({ exitCode: 1, output: "the outcome is stored" });
});

test("a process that cannot continue while it stops ends its calls and exits with 1", async () => {
  const end = await run(
    `${APP} process.on("SIGTERM", () => { stopAndFail(); endCall(); }); process.kill(process.pid);`,
  );
  expect(end).toEqual({ exitCode: 1, output: "the outcome is stored" });
});

test("a process without an application to stop exits with 1 at once", async () => {
  expect(await run("stopAndFail(); process.stdout.write('late');")).toEqual({
    exitCode: 1,
    output: "",
  });
});
