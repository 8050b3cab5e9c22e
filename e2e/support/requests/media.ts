import { connect } from "node:net";
import type { Api } from "./api.ts";
import { refusalOf } from "./posts.ts";

export interface Grant {
  readonly id: string;
  readonly uploadUrl: string;
  readonly uploadPath: string;
  readonly uploadToken: string;
  readonly expiresAt: string;
}

export interface ReadyMedia {
  readonly id: string;
  readonly status: string;
  readonly kind: string;
  readonly contentType: string;
  readonly bytes: number;
  readonly width: number;
  readonly height: number;
  readonly durationMs: number | null;
  readonly sha256: string;
  readonly fileName: string;
  readonly url: string;
  readonly createdAt: string;
}

/** A file that a test uploads. */
export interface File {
  readonly fileName: string;
  readonly contentType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Requests permission to upload the file (an upload URL), and throws unless the gateway answers
 * 201.
 */
export async function presign(api: Api, { fileName, contentType, bytes }: File): Promise<Grant> {
  const body = { fileName, contentType, bytes: bytes.length };
  const answer = await api.call<Grant>("POST", "/media/presign", { body });
  if (answer.status !== 201) throw new Error(`presign answered ${refusalOf(answer)}`);
  return answer.body;
}

/** Uploads the file and completes the upload, as the API contract describes. */
export async function upload(api: Api, file: File): Promise<ReadyMedia> {
  const grant = await presign(api, file);
  const headers = { "content-type": file.contentType };
  const put = await fetch(grant.uploadUrl, { method: "PUT", body: file.bytes, headers });
  if (!put.ok) throw new Error(`PUT answered ${put.status} ${await put.text()}`);
  const answer = await api.call<ReadyMedia>("POST", `/media/${grant.id}/complete`);
  if (answer.status !== 200) throw new Error(`complete answered ${refusalOf(answer)}`);
  return answer.body;
}

/**
 * Sends the header and half of the body of an upload; disposing of the result closes the
 * connection.
 */
export async function openCutUpload(
  { uploadUrl }: Grant,
  { bytes }: File,
): Promise<AsyncDisposable> {
  const url = new URL(uploadUrl);
  const socket = connect(Number(url.port), url.hostname);
  const head = [
    `PUT ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    `Content-Length: ${bytes.length}`,
  ];
  await new Promise<void>((resolve, reject) => {
    socket.on("error", reject);
    socket.write(`${head.join("\r\n")}\r\n\r\n`);
    socket.write(bytes.subarray(0, bytes.length / 2), () => resolve());
  });
  return {
    [Symbol.asyncDispose]: () => {
      socket.destroy();
      return Promise.resolve();
    },
  };
}

/** Sends the header and half of the body of an upload, and closes the connection. */
export async function cutUpload(grant: Grant, file: File): Promise<void> {
  await using _cut = await openCutUpload(grant, file);
}
