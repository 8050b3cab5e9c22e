import { constants } from "node:zlib";
import compress from "@fastify/compress";
import type { FastifyInstance } from "fastify";

/** Minimum size in bytes of an answer that is compressed. For smaller answers, compressing costs more than it saves. */
const MIN_BYTES = 8 * 1024;
/** Compression levels at which compressing a page of posts takes a few milliseconds of processor time. */
const BROTLI_QUALITY = 4;
const GZIP_LEVEL = 5;

/**
 * Compresses large answers in JSON for clients that accept it. Answers with secrets, such as upload tokens, are smaller
 * than `MIN_BYTES` and so are never compressed: if an attacker can put text beside a secret, the length of the
 * compressed answer reveals parts of the secret. Only routes that are added afterwards are compressed.
 */
export async function addCompression(api: FastifyInstance): Promise<void> {
  await api.register(compress, {
    global: true,
    threshold: MIN_BYTES,
    customTypes: /^application\/json/,
    encodings: ["br", "gzip"],
    globalDecompression: false,
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } },
    zlibOptions: { level: GZIP_LEVEL },
  });
}
