import type { EnvReader } from "@postrider/shared/config";
import { openDiskStore } from "#src/storage/disk.ts";
import type { ObjectStore } from "#src/storage/object-store.ts";
import type { S3Config } from "#src/storage/s3-client.ts";

class StoreHeldError extends Error {
  override name = "StoreHeldError";

  constructor() {
    super(
      "the file is kept, because the data or the object store belongs to another deployment; see `postrider recovery status`",
    );
  }
}

/** No caller in this service can then delete files of another deployment. */
export function guardStore(store: ObjectStore, mayDelete: () => Promise<boolean>): ObjectStore {
  const requirePermission = async (): Promise<void> => {
    if (!(await mayDelete())) throw new StoreHeldError();
  };
  return {
    hasUploadUrls: store.hasUploadUrls,
    put: (key, bytes, signal) => store.put(key, bytes, signal),
    open: (key, range, signal) => store.open(key, range, signal),
    stat: (key) => store.stat(key),
    move: (from, to, version) => store.move(from, to, version),
    list: (prefix, before) => store.list(prefix, before),
    createUploadUrl: (key, upload) => store.createUploadUrl(key, upload),
    check: () => store.check(),
    delete: async (key) => {
      await requirePermission();
      await store.delete(key);
    },
    removeUnfinished: async (before) => {
      await requirePermission();
      return await store.removeUnfinished(before);
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

type StorageConfig =
  | { readonly kind: "disk"; readonly folder: string }
  | ({ readonly kind: "s3" } & S3Config);

/** A bucket without `MEDIA_STORE` means S3. */
export function readStorageConfig(read: EnvReader): StorageConfig {
  const wanted = read.optionalString("S3_BUCKET") === undefined ? "disk" : "s3";
  const kind = read
    .about("Where media files are stored.", {
      level: "needed",
      default: "`s3` when `S3_BUCKET` is set, else `disk`",
    })
    .oneOf("MEDIA_STORE", ["disk", "s3"], wanted);
  const folder = read
    .when(kind === "disk")
    .about("Folder for media files. All replicas of the media service must share it.", {
      level: "needed",
      default: "required with `MEDIA_STORE=disk`",
    })
    .string("MEDIA_DIR");
  const s3 = readS3Config(read.when(kind === "s3"));
  return kind === "disk" ? { kind, folder } : { kind, ...s3 };
}

export async function openObjectStore(config: StorageConfig): Promise<ObjectStore> {
  if (config.kind === "disk") return await openDiskStore(config.folder);
  const { createS3Store } = await import("#src/storage/s3.ts");
  return createS3Store(config);
}

function readS3Config(read: EnvReader): S3Config {
  const endpoint = readEndpoint(
    read.about(
      "Address of the S3 API at which the media service reads and writes files. Not needed for AWS.",
      { default: "the address of AWS S3" },
    ),
    "S3_ENDPOINT",
  );
  return {
    endpoint,
    publicEndpoint: readEndpoint(
      read.about("Address of the S3 API as API clients reach it, for direct uploads.", {
        default: "the value of `S3_ENDPOINT`",
      }),
      "S3_PUBLIC_ENDPOINT",
    ),
    // Only AWS needs the real region of a bucket.
    region: read
      .about("Region of the S3 bucket.", {
        default: "`us-east-1` when `S3_ENDPOINT` is set, else required",
      })
      .string("S3_REGION", endpoint === undefined ? {} : { default: "us-east-1" }),
    bucket: readBucket(
      read.about("Name of the S3 bucket for media files.", {
        level: "needed",
        default: "required with `MEDIA_STORE=s3`",
      }),
    ),
    credentials: readCredentials(read),
    // Most other stores have no host name for each bucket.
    forcePathStyle: read
      .about(
        "Whether S3 addresses contain the bucket name in the path instead of in the host name.",
        {
          level: "advanced",
          default: "`true` when `S3_ENDPOINT` is set, else `false`",
        },
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
  if (bucket !== "" && !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    read.fail("S3_BUCKET", `is not a valid bucket name: ${bucket}`);

  return bucket;
}

function readCredentials(read: EnvReader): S3Config["credentials"] {
  const names = ["S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"] as const;
  const isGiven = names.some((name) => read.optionalString(name) !== undefined);
  const used = read.when(isGiven);
  const own = {
    default: "the credentials that the AWS SDK finds, for example the role of the machine",
  };
  const credentials = {
    accessKeyId: used
      .secret("ID of the access key with which the media service uses S3.", own)
      .string(names[0]),
    secretAccessKey: used
      .secret("Secret of the access key with which the media service uses S3.", own)
      .string(names[1]),
  };
  return isGiven ? credentials : undefined;
}
