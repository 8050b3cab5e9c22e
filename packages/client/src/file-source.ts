/** The bytes of a file: a `Blob` or `File`, bytes in memory, or a stream whose length is known. */
export type FileData =
  | Blob
  | ArrayBuffer
  | Uint8Array<ArrayBuffer>
  | ReadableStream<Uint8Array<ArrayBuffer>>
  | AsyncIterable<Uint8Array<ArrayBuffer>>;

export interface FileFacts {
  /** Default: the name of the `File`. */
  readonly fileName?: string | undefined;
  /** Default: the type of the `File` or `Blob`, or else the type of the file name's extension. */
  readonly contentType?: string | undefined;
  /** Needed for a stream. */
  readonly bytes?: number | undefined;
}

export interface FileSource {
  readonly fileName: string;
  readonly contentType: string;
  readonly bytes: number;
  /** Can be sent again, unless it is a stream. */
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
