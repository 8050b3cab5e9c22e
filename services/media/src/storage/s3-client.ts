import { S3Client } from "@aws-sdk/client-s3";

/** The bucket must contain only objects of media, because unknown objects are deleted. */
export interface S3Config {
  readonly endpoint: string | undefined;
  readonly publicEndpoint: string | undefined;
  readonly region: string;
  readonly bucket: string;
  /** Undefined for the default credentials of the AWS SDK. */
  readonly credentials:
    | { readonly accessKeyId: string; readonly secretAccessKey: string }
    | undefined;
  readonly forcePathStyle: boolean;
}

const CALL_TIMEOUT_MS = 15_000;
/** Long, because a store may send nothing while it copies or joins parts. */
const SOCKET_TIMEOUT_MS = 300_000;
/** For calls that transfer no file. */
const MAX_CONTROL_SOCKETS = 50;
/**
 * For reading files, and again for writing. More than the transfers that media allows, so that none
 * waits for a slow one.
 */
export const MAX_STREAM_SOCKETS = 1_000;

export function createS3Client(
  config: S3Config,
  endpoint: string | undefined,
  maxSockets = MAX_CONTROL_SOCKETS,
): S3Client {
  return new S3Client({
    region: config.region,
    forcePathStyle: config.forcePathStyle,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(config.credentials === undefined ? {} : { credentials: config.credentials }),
    // By default the SDK would sign the checksum of an empty body into upload URLs, and stores
    // would refuse every other body.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: {
      connectionTimeout: 5_000,
      socketTimeout: SOCKET_TIMEOUT_MS,
      httpAgent: { keepAlive: true, maxSockets },
      httpsAgent: { keepAlive: true, maxSockets },
    },
  });
}

/** Every call to the store has a time limit. */
export function deadline(ms = CALL_TIMEOUT_MS): { readonly abortSignal: AbortSignal } {
  return { abortSignal: AbortSignal.timeout(ms) };
}
