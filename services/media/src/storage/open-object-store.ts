import type { EnvReader } from "@postrider/shared/config";
import { openDiskStore } from "#src/storage/disk.ts";
import type { ObjectStore } from "#src/storage/object-store.ts";
import type { S3Config } from "#src/storage/s3-client.ts";

/** The settings of the object store. */
export type StorageConfig =
  | { readonly kind: "disk"; readonly folder: string }
  | ({ readonly kind: "s3" } & S3Config);

/** Without `MEDIA_STORE`, a bucket selects S3; otherwise the folder `MEDIA_DIR` is the store. */
export function readStorageConfig(read: EnvReader): StorageConfig {
  const wanted = read.optionalString("S3_BUCKET") === undefined ? "disk" : "s3";
  const kind = read
    .about("Where the bytes of media are stored.", "`s3` when `S3_BUCKET` is set, otherwise `disk`")
    .oneOf("MEDIA_STORE", ["disk", "s3"], wanted);
  const folder = read
    .when(kind === "disk")
    .about(
      "Folder of the media files; every replica needs the same folder.",
      "required with `MEDIA_STORE=disk`",
    )
    .string("MEDIA_DIR");
  const s3 = readS3Config(read.when(kind === "s3"));
  return kind === "disk" ? { kind, folder } : { kind, ...s3 };
}

/** Opens the store. The AWS SDK is loaded only for S3, because loading it takes time and memory. */
export async function openObjectStore(config: StorageConfig): Promise<ObjectStore> {
  if (config.kind === "disk") return await openDiskStore(config.folder);
  const { createS3Store } = await import("#src/storage/s3.ts");
  return createS3Store(config);
}

function readS3Config(read: EnvReader): S3Config {
  const endpoint = readEndpoint(
    read.about("URL of the S3 store; not needed for AWS.", "AWS"),
    "S3_ENDPOINT",
  );
  return {
    endpoint,
    publicEndpoint: readEndpoint(
      read.about("URL of the S3 store for clients that upload to it directly.", "`S3_ENDPOINT`"),
      "S3_PUBLIC_ENDPOINT",
    ),
    // Only AWS uses the region. Other stores have a single one, which most call us-east-1.
    region: read
      .about("Region of the bucket.", "`us-east-1` with `S3_ENDPOINT`, otherwise required")
      .string("S3_REGION", endpoint === undefined ? {} : { default: "us-east-1" }),
    bucket: readBucket(read.about("Name of the bucket.", "required with `MEDIA_STORE=s3`")),
    credentials: readCredentials(read),
    // A store with its own URL seldom has a host name per bucket.
    forcePathStyle: read
      .about(
        "Whether the URL contains the bucket in its path instead of its host name.",
        "`true` with `S3_ENDPOINT`, otherwise `false`",
      )
      .boolean("S3_FORCE_PATH_STYLE", endpoint !== undefined),
  };
}

function readEndpoint(read: EnvReader, name: string): string | undefined {
  const address = read.url(name, "");
  return address === "" ? undefined : address;
}

function readBucket(read: EnvReader): string {
  const bucket = read.string("S3_BUCKET");
  if (bucket !== "" && !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) {
    read.fail("S3_BUCKET", `is not a valid bucket name: ${bucket}`);
  }
  return bucket;
}

function readCredentials(read: EnvReader): S3Config["credentials"] {
  const names = ["S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"] as const;
  const isGiven = names.some((name) => read.optionalString(name) !== undefined);
  const used = read.when(isGiven);
  const own = "what the AWS SDK finds, for example the role of the machine";
  const credentials = {
    accessKeyId: used.secret("Access key id of the S3 store.", own).string(names[0]),
    secretAccessKey: used.secret("Secret access key of the S3 store.", own).string(names[1]),
  };
  return isGiven ? credentials : undefined;
}
