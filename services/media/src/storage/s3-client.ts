import { S3Client } from "@aws-sdk/client-s3";

/**
 * A bucket of any S3-compatible store. The bucket must contain only the objects of this service, because unknown objects
 * are deleted.
 */
export interface S3Config {
  /** URL of the store; undefined for AWS. */
  readonly endpoint: string | undefined;
  /** URL of the store for clients, when it differs from `endpoint`. */
  readonly publicEndpoint: string | undefined;
  readonly region: string;
  readonly bucket: string;
  /** Access key; undefined for the SDK's default chain, for example the role of the container. */
  readonly credentials:
    | { readonly accessKeyId: string; readonly secretAccessKey: string }
    | undefined;
  readonly forcePathStyle: boolean;
}

const CALL_TIMEOUT_MS = 15_000;
/** Idle timeout of a connection. It is long because a store may send nothing while it copies or joins parts. */
const SOCKET_TIMEOUT_MS = 300_000;

export function createS3Client(config: S3Config, endpoint: string | undefined): S3Client {
  return new S3Client({
    region: config.region,
    forcePathStyle: config.forcePathStyle,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(config.credentials === undefined ? {} : { credentials: config.credentials }),
    // With its default the SDK would sign the checksum of an empty body into upload URLs, and stores would refuse every
    // other body.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: { connectionTimeout: 5_000, socketTimeout: SOCKET_TIMEOUT_MS },
  });
}

/** Call options with a time limit; every call to the store has one. */
export function deadline(ms = CALL_TIMEOUT_MS): { readonly abortSignal: AbortSignal } {
  return { abortSignal: AbortSignal.timeout(ms) };
}
