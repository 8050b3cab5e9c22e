/** The bytes of a file: a `Blob` or `File`, bytes in memory, or a stream whose length is known. */
export type FileData =
  | Blob
  | ArrayBuffer
  | Uint8Array<ArrayBuffer>
  | ReadableStream<Uint8Array<ArrayBuffer>>
  | AsyncIterable<Uint8Array<ArrayBuffer>>;

/** What the API must know about a file before its bytes are uploaded. */
export interface FileFacts {
  /** Name of the file. Default: the name of the `File`. */
  readonly fileName?: string | undefined;
  /**
   * Media type of the file. Default: the type of the `File` or `Blob`, or else the type that
   * belongs to the extension of the file name.
   */
  readonly contentType?: string | undefined;
  /** Length of the file; needed for a stream. */
  readonly bytes?: number | undefined;
}

export interface FileSource {
  readonly fileName: string;
  readonly contentType: string;
  readonly bytes: number;
  /** The whole file, which can be sent again; or a stream, which can be read once. */
  readonly body: Blob | ReadableStream<Uint8Array<ArrayBuffer>>;
}

const TYPES: Readonly<Record<string, string>> = {
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  png: "image/png",
  gif: "image/gif",
  webp: "image/webp",
  bmp: "image/bmp",
  tif: "image/tiff",
  tiff: "image/tiff",
  heic: "image/heic",
  heif: "image/heif",
  mp4: "video/mp4",
  mov: "video/quicktime",
  webm: "video/webm",
};

function needed<T>(value: T | undefined, name: string): T {
  if (value === undefined || value === "")
    throw new TypeError(`\`${name}\` of the file is not known: pass it as an option`);
  return value;
}

function factsOf(data: FileData): Partial<Pick<File, "name" | "type">> {
  return data instanceof Blob ? data : {};
}

function toStream(
  data: ReadableStream<Uint8Array<ArrayBuffer>> | AsyncIterable<Uint8Array<ArrayBuffer>>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  if (data instanceof ReadableStream) return data;
  const iterator = data[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: async (controller) => {
      const { done, value } = await iterator.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => void (await iterator.return?.()),
  });
}

function toBody(data: FileData): FileSource["body"] {
  if (data instanceof Blob) return data;
  const isInMemory = data instanceof ArrayBuffer || ArrayBuffer.isView(data);
  return isInMemory ? new Blob([data]) : toStream(data);
}

function guessType(fileName: string): string | undefined {
  return TYPES[fileName.split(".").at(-1)?.toLowerCase() ?? ""];
}

export function toFileSource(data: FileData, facts: FileFacts): FileSource {
  const { name, type } = factsOf(data);
  const body = toBody(data);
  const fileName = needed(facts.fileName ?? name, "fileName");
  return {
    fileName,
    contentType: needed(facts.contentType ?? (type || guessType(fileName)), "contentType"),
    bytes: needed(body instanceof Blob ? body.size : facts.bytes, "bytes"),
    body,
  };
}
