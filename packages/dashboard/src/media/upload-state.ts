/** A file on its way to the server. */
export interface Upload {
  readonly key: string;
  /** What it is for, such as a draft. */
  readonly place: string;
  /** Files that were chosen later have higher numbers; they can be ready earlier. */
  readonly order: number;
  readonly fileName: string;
  /** Of the file in this browser, for its picture while it is sent; undefined for imports. */
  readonly previewUrl: string | undefined;
  readonly kind: "image" | "video";
  readonly state: "sending" | "checking" | "failed";
  readonly sentBytes: number;
  /** 0 while it is not known, as of imports. */
  readonly totalBytes: number;
  readonly startedAt: number;
  readonly error?: unknown;
}

export interface UploadFigures {
  readonly percent: number;
  /** Undefined until enough was sent to know the speed. */
  readonly secondsLeft: number | undefined;
}

const KNOWN_AFTER_MS = 1_000;

export function figuresOf(upload: Upload, now: number): UploadFigures {
  const { sentBytes, totalBytes, startedAt } = upload;
  const percent = totalBytes === 0 ? 0 : Math.floor((sentBytes / totalBytes) * 100);
  const ms = now - startedAt;
  if (sentBytes === 0 || ms < KNOWN_AFTER_MS) return { percent, secondsLeft: undefined };
  return { percent, secondsLeft: Math.ceil(((totalBytes - sentBytes) / sentBytes) * (ms / 1000)) };
}

/** All bytes are there: the server looks at the file now. */
export function afterProgress(upload: Upload, sentBytes: number, totalBytes: number): Upload {
  const state = sentBytes >= totalBytes ? "checking" : "sending";
  return { ...upload, sentBytes, totalBytes, state };
}

const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** "12.6 MB", "340 kB": three digits at most, units of a thousand as platforms count. */
export function bytesText(bytes: number, language: string): string {
  const power = bytes < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  const digits = value < 100 && power > 1 ? 1 : 0;
  const number = new Intl.NumberFormat(language, { maximumFractionDigits: digits }).format(value);
  return `${number} ${UNITS[power]}`;
}

/** "0:38", "12:41", "1:02:03" */
export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const pad = (part: number) => String(part).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  const rest = pad(seconds % 60);
  if (minutes < 60) return `${minutes}:${rest}`;
  return `${Math.floor(minutes / 60)}:${pad(minutes % 60)}:${rest}`;
}
