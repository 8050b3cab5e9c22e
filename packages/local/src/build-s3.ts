import { ensureS3Program } from "#src/s3-program.ts";

// `npm test` runs this program at the same time as its other checks, so that no test waits for the build.
try {
  await ensureS3Program();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
