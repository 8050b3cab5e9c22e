import { ConfigError, loadConfig } from "@postrider/shared/config";
import { expect, test } from "vitest";
import { readStorageConfig } from "#src/storage/open-object-store.ts";

function read(env: Record<string, string>) {
  return loadConfig(env, readStorageConfig);
}

function faultsOf(env: Record<string, string>): readonly string[] {
  try {
    read(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
  }
  return [];
}

const s3 = {
  S3_ENDPOINT: "http://127.0.0.1:9000/",
  S3_BUCKET: "media",
  S3_ACCESS_KEY_ID: "key",
  S3_SECRET_ACCESS_KEY: "secret",
};

test("by default MEDIA_STORE is s3 when a bucket is configured, and otherwise disk", () => {
  expect(read({ MEDIA_DIR: "/data" })).toEqual({ kind: "disk", folder: "/data" });
  expect(read({ MEDIA_DIR: "/data", ...s3 })).toMatchObject({ kind: "s3", bucket: "media" });
  expect(read({ MEDIA_DIR: "/data", ...s3, MEDIA_STORE: "disk" }).kind).toBe("disk");
});

test("an S3 store with its own endpoint has a default region and is addressed by path instead of bucket host name", () => {
  expect(read(s3)).toEqual({
    kind: "s3",
    endpoint: "http://127.0.0.1:9000",
    publicEndpoint: undefined,
    region: "us-east-1",
    bucket: "media",
    credentials: { accessKeyId: "key", secretAccessKey: "secret" },
    forcePathStyle: true,
  });
  expect(read({ ...s3, S3_FORCE_PATH_STYLE: "false" })).toMatchObject({ forcePathStyle: false });
});

test("the S3 store on AWS requires a region, and without configured credentials it uses the role of the machine", () => {
  expect(read({ S3_BUCKET: "media", S3_REGION: "eu-central-1" })).toEqual({
    kind: "s3",
    endpoint: undefined,
    publicEndpoint: undefined,
    region: "eu-central-1",
    bucket: "media",
    credentials: undefined,
    forcePathStyle: false,
  });
  expect(faultsOf({ S3_BUCKET: "media" })).toEqual(["S3_REGION is required"]);
});

test("all invalid storage settings are reported at once, without the secrets", () => {
  expect(faultsOf({})).toEqual(["MEDIA_DIR is required"]);
  expect(faultsOf({ MEDIA_STORE: "s3" })).toEqual([
    "S3_REGION is required",
    "S3_BUCKET is required",
  ]);
  expect(
    faultsOf({
      MEDIA_STORE: "s3",
      S3_ENDPOINT: "minio:9000",
      S3_PUBLIC_ENDPOINT: "here",
      S3_BUCKET: "My_Bucket",
      S3_SECRET_ACCESS_KEY: "very secret",
      S3_FORCE_PATH_STYLE: "yes",
    }),
  ).toEqual([
    "S3_ENDPOINT is not an http address: minio:9000",
    "S3_PUBLIC_ENDPOINT is not an http address: here",
    "S3_BUCKET is not a valid bucket name: My_Bucket",
    "S3_ACCESS_KEY_ID is required",
    "S3_FORCE_PATH_STYLE is not one of true, false: yes",
  ]);
  expect(faultsOf({ MEDIA_DIR: "/data", MEDIA_STORE: "tape" })).toEqual([
    "MEDIA_STORE is not one of disk, s3: tape",
  ]);
});
