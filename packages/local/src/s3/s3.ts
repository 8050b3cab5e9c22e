import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { environment } from "#src/config.ts";
import { findStablePorts } from "#src/processes/free-port.ts";
import { startServerProcess } from "#src/processes/server-process.ts";
import type { RunningPart } from "#src/processes/supervised-part.ts";
import { ensureS3Program, type GoEnvironment } from "#src/s3/s3-program.ts";

export interface EmbeddedS3 extends RunningPart {
  readonly dataDir: string;
  readonly port: number;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly settings: Readonly<Record<`S3_${string}`, string>>;
}

export interface S3Options {
  readonly dataDir: string;
  readonly port?: number;
  /** From an earlier start. Default: new keys are created. */
  readonly keys?: Pick<EmbeddedS3, "accessKeyId" | "secretAccessKey">;
  readonly logFile?: string;
  readonly env?: GoEnvironment;
}

const bucket = "postrider-media";
const region = "us-east-1";

/**
 * For tests only: it does not sync its data to disk. Throws in one line if Go is missing, the build
 * fails or the server does not start.
 */
export async function startS3(options: S3Options): Promise<EmbeddedS3> {
  const dataDir = resolve(options.dataDir);
  const program = await ensureS3Program(options.env ?? environment);
  const [spare = 0] = await findStablePorts(1);
  const port = options.port ?? spare;
  const { accessKeyId, secretAccessKey } = options.keys ?? {
    accessKeyId: `PR${randomBytes(9).toString("hex").toUpperCase()}`,
    secretAccessKey: randomBytes(30).toString("base64url"),
  };
  // Each folder in the root folder is a bucket. Object metadata is stored in files, because some
  // file systems lack extended attributes.
  const [buckets, facts] = [join(dataDir, "buckets"), join(dataDir, "facts")];
  for (const folder of [join(buckets, bucket), join(facts, bucket)])
    mkdirSync(folder, { recursive: true });

  const server = await startServerProcess({
    name: "The S3 server",
    program,
    args: [
      `--port=127.0.0.1:${port}`,
      "--quiet",
      "--keep-alive",
      "posix",
      `--sidecar=${facts}`,
      buckets,
    ],
    env: { ROOT_ACCESS_KEY: accessKeyId, ROOT_SECRET_KEY: secretAccessKey },
    port,
    logFile: options.logFile ?? `${dataDir}.log`,
    graceMs: 5_000,
  });
  const settings = {
    S3_ENDPOINT: `http://127.0.0.1:${port}`,
    S3_REGION: region,
    S3_BUCKET: bucket,
    S3_ACCESS_KEY_ID: accessKeyId,
    S3_SECRET_ACCESS_KEY: secretAccessKey,
    S3_FORCE_PATH_STYLE: "true",
  } as const;
  return { ...server, accessKeyId, secretAccessKey, dataDir, port, bucket, settings };
}
