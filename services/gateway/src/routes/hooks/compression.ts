import { constants } from "node:zlib";
import compress from "@fastify/compress";
import type { FastifyInstance } from "fastify";

/** Answers with fewer bytes are sent as they are, because compressing them would save less than it costs. */
const MIN_BYTES = 8 * 1024;
/** Levels at which a page of posts takes a few milliseconds of a core. */
const BROTLI_QUALITY = 4;
const GZIP_LEVEL = 5;

/**
 * Compresses large answers in JSON for clients that accept it. Answers with secrets, such as upload tokens, are smaller than
 * `MIN_BYTES`: the length of a compressed answer would tell an attacker who can put text beside a secret about the secret.
 * Only routes that are added afterwards are compressed.
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
