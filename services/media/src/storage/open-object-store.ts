import type { EnvReader } from "@postrider/shared/config";
import { openDiskStore } from "#src/storage/disk.ts";
import type { ObjectStore } from "#src/storage/object-store.ts";
import type { S3Config } from "#src/storage/s3-client.ts";

/** Where the bytes of media are kept. */
export type StorageConfig =
  | { readonly kind: "disk"; readonly folder: string }
  | ({ readonly kind: "s3" } & S3Config);

/** A bucket without `MEDIA_STORE` means S3; else the folder `MEDIA_DIR` is the store. */
export function readStorageConfig(read: EnvReader): StorageConfig {
  const wanted = read.optionalString("S3_BUCKET") === undefined ? "disk" : "s3";
  return read.oneOf("MEDIA_STORE", ["disk", "s3"], wanted) === "disk"
    ? { kind: "disk", folder: read.string("MEDIA_DIR") }
    : { kind: "s3", ...readS3Config(read) };
}

/** Opens the store; the AWS SDK is loaded only for S3, because loading it takes time and memory. */
export async function openObjectStore(config: StorageConfig): Promise<ObjectStore> {
  if (config.kind === "disk") return await openDiskStore(config.folder);
  const { createS3Store } = await import("#src/storage/s3.ts");
  return createS3Store(config);
}

function readS3Config(read: EnvReader): S3Config {
  const endpoint = readEndpoint(read, "S3_ENDPOINT");
  return {
    endpoint,
    publicEndpoint: readEndpoint(read, "S3_PUBLIC_ENDPOINT"),
    // Only AWS cares; other stores have one region, and most call it by this name.
    region: read.string("S3_REGION", endpoint === undefined ? {} : { default: "us-east-1" }),
    bucket: readBucket(read),
    credentials: readCredentials(read),
    // A store under an address of its own seldom has a host name for each bucket.
    forcePathStyle: read.boolean("S3_FORCE_PATH_STYLE", endpoint !== undefined),
  };
}

function readEndpoint(read: EnvReader, name: string): string | undefined {
  return read.optionalString(name) === undefined ? undefined : read.url(name);
}

function readBucket(read: EnvReader): string {
  const bucket = read.string("S3_BUCKET");
  if (bucket !== "" && !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) {
    read.fail("S3_BUCKET", `is no name of a bucket: ${bucket}`);
  }
  return bucket;
}

function readCredentials(read: EnvReader): S3Config["credentials"] {
  const names = ["S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"] as const;
  if (names.every((name) => read.optionalString(name) === undefined)) return undefined;
  return { accessKeyId: read.string(names[0]), secretAccessKey: read.string(names[1]) };
}
