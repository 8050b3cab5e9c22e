import { ensureS3Program } from "#src/s3/s3-program.ts";

// Builds the S3 server of the tests. `npm test` runs this program while its other checks run, so
// that no test waits for the build.
try {
  await ensureS3Program();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
