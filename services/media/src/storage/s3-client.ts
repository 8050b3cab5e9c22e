import { S3Client } from "@aws-sdk/client-s3";

/**
 * A bucket of an S3-compatible store. The bucket must contain only the objects of the media service, because unknown
 * objects are deleted.
 */
export interface S3Config {
  /** URL of the S3 store; undefined for the S3 of AWS. */
  readonly endpoint: string | undefined;
  /** URL at which clients reach the S3 store, when it differs from `endpoint`. */
  readonly publicEndpoint: string | undefined;
  readonly region: string;
  readonly bucket: string;
  /**
   * Access key of the S3 store; undefined for the default credentials of the AWS SDK, for example the role of the
   * container.
   */
  readonly credentials:
    | { readonly accessKeyId: string; readonly secretAccessKey: string }
    | undefined;
  readonly forcePathStyle: boolean;
}

const CALL_TIMEOUT_MS = 15_000;
/**
 * Idle timeout of a connection to the S3 store. It is long because a store may send nothing while it copies or joins
 * parts.
 */
const SOCKET_TIMEOUT_MS = 300_000;
/** Maximum number of connections to the S3 store for calls that transfer no file. */
const MAX_CONTROL_SOCKETS = 50;
/**
 * Maximum number of connections to the S3 store for reading files. The same maximum applies separately to writing
 * files. It is higher than the number of transfers that the media service allows, so that no transfer waits until a
 * slow transfer frees its connection.
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
    // By default the AWS SDK would sign the checksum of an empty body into upload URLs, and stores would refuse every
    // other body.
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

/** Returns options that give a call to the S3 store a time limit. Every call has one. */
export function deadline(ms = CALL_TIMEOUT_MS): { readonly abortSignal: AbortSignal } {
  return { abortSignal: AbortSignal.timeout(ms) };
}
