import { S3Client } from "@aws-sdk/client-s3";

/** A bucket of any store that speaks S3. It is the store's alone: what it does not know in there, it may remove. */
export interface S3Config {
  /** Undefined = AWS. */
  readonly endpoint: string | undefined;
  /** Where clients reach the store, if not at `endpoint`. */
  readonly publicEndpoint: string | undefined;
  readonly region: string;
  readonly bucket: string;
  /** Undefined = what the machine has, for example the role of its container. */
  readonly credentials:
    | { readonly accessKeyId: string; readonly secretAccessKey: string }
    | undefined;
  readonly forcePathStyle: boolean;
}

const CALL_MS = 15_000;
/** A connection that brings no byte for so long is broken off; a store may copy or put parts together meanwhile. */
const SILENCE_MS = 300_000;

export function createS3Client(config: S3Config, endpoint: string | undefined): S3Client {
  return new S3Client({
    region: config.region,
    forcePathStyle: config.forcePathStyle,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(config.credentials === undefined ? {} : { credentials: config.credentials }),
    // The SDK would put the checksum of an empty body into a signed address, and stores refuse every other body then.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: { connectionTimeout: 5_000, socketTimeout: SILENCE_MS },
  });
}

/** Every call to the store has an end. */
export function deadline(ms = CALL_MS): { readonly abortSignal: AbortSignal } {
  return { abortSignal: AbortSignal.timeout(ms) };
}
