import type { EnvReader } from "@postrider/shared/config";
import { unavailable } from "@postrider/shared/errors";
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

interface StorePermissions {
  readonly mayDelete: () => Promise<boolean>;
  readonly lacksFiles: (options: { readonly isRecentEnough: boolean }) => Promise<boolean>;
}

/**
 * No caller in this service can then delete files of another deployment, or take a file for deleted
 * whose disk is not mounted.
 */
export function guardStore(store: ObjectStore, guard: StorePermissions): ObjectStore {
  const requirePermission = async (): Promise<void> => {
    if (!(await guard.mayDelete())) throw new StoreHeldError();
  };
  const assertHasFiles = async (isRecentEnough = true): Promise<undefined> => {
    if (await guard.lacksFiles({ isRecentEnough })) throw unavailable();
  };
  return {
    hasUploadUrls: store.hasUploadUrls,
    put: async (key, bytes, signal) => {
      await assertHasFiles();
      return await store.put(key, bytes, signal);
    },
    open: async (key, range, signal) =>
      (await store.open(key, range, signal)) ?? (await assertHasFiles(false)),
    stat: async (key) => (await store.stat(key)) ?? (await assertHasFiles()),
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
