import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bucketCommands } from "./bucket-rules.ts";

const MEDIA = join(import.meta.dirname, "../../../../services/media/src");

/** The rights that each operation needs (S3 API reference, "Required permissions"). */
const RIGHTS: Readonly<Record<string, readonly string[]>> = {
  AbortMultipartUpload: ["s3:AbortMultipartUpload"],
  CompleteMultipartUpload: ["s3:PutObject"],
  CopyObject: ["s3:GetObject", "s3:PutObject"],
  CreateMultipartUpload: ["s3:PutObject"],
  DeleteObject: ["s3:DeleteObject"],
  GetObject: ["s3:GetObject"],
  HeadBucket: ["s3:ListBucket"],
  HeadObject: ["s3:GetObject", "s3:ListBucket"],
  ListMultipartUploads: ["s3:ListBucketMultipartUploads"],
  ListObjectsV2: ["s3:ListBucket"],
  PutObject: ["s3:PutObject"],
  UploadPart: ["s3:PutObject"],
};

async function run() {
  const values = { bucket: "files", origin: ["https://app.example.com"] };
  const args = { positionals: [], values };
  const result = await bucketCommands[0]?.run({} as never, args, {} as never);
  return result?.json as {
    readonly policy: { readonly Statement: readonly { readonly Action: readonly string[] }[] };
    readonly cors: object;
  };
}

test("`storage bucket-rules` grants exactly what the S3 operations of the media service need", async () => {
  const sources = globSync("**/*.ts", { cwd: MEDIA }).map((file) =>
    readFileSync(join(MEDIA, file), "utf8"),
  );
  const operations = sources
    .flatMap((source) => [...source.matchAll(/\bnew (\w+)Command\(|\bpaginate(\w+)\(/g)])
    .map(([, command, pages]) => command ?? pages ?? "");
  const { policy } = await run();

  expect(operations.length).toBeGreaterThan(8);
  expect(new Set(policy.Statement.flatMap(({ Action }) => Action))).toEqual(
    new Set(operations.flatMap((name) => RIGHTS[name] ?? [])),
  );
  expect(operations.filter((name) => !(name in RIGHTS))).toEqual([]);
});

test("`storage bucket-rules` lets pages of the given origins upload, and nothing else", async () => {
  expect((await run()).cors).toEqual({
    CORSRules: [
      {
        AllowedOrigins: ["https://app.example.com"],
        AllowedMethods: ["PUT"],
        AllowedHeaders: ["content-type"],
        MaxAgeSeconds: 3600,
      },
    ],
  });
});
