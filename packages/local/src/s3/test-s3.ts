import { rmSync } from "node:fs";
import { join } from "node:path";
import { type EmbeddedS3, startS3 } from "#src/s3/s3.ts";
import { makeTestFolder } from "#src/stack/test-folder.ts";

/** In a temporary folder, which disposing removes. */
export async function startTestS3(): Promise<EmbeddedS3> {
  const folder = makeTestFolder("s3");
  const s3 = await startS3({ dataDir: join(folder, "data") });
  return {
    ...s3,
    async [Symbol.asyncDispose]() {
      await s3[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
