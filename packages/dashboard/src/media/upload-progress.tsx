import { useEffect, useState } from "react";
import { useSettings } from "../settings/settings.ts";
import { useWords } from "../words/use-words.ts";
import { mediaWords } from "./media-words.ts";
import css from "./media.module.css";
import { bytesText, figuresOf, type Upload } from "./upload-state.ts";

interface UploadProps {
  readonly upload: Upload;
}

/** Percent and bytes over the picture that is sent. */
export function UploadProgress({ upload }: UploadProps) {
  const words = useWords(mediaWords);
  const { language } = useSettings();
  const { sentBytes, totalBytes } = upload;
  if (totalBytes === 0 || upload.state === "failed") return null;
  const { percent } = figuresOf(upload, upload.startedAt);
  return (
    <span className={css.progress}>
      <span className="row xs num">
        <b>{words.percent(percent)}</b>
        <span className="push">
          {words.sentOf(bytesText(sentBytes, language), bytesText(totalBytes, language))}
        </span>
      </span>
      <Meter share={percent / 100} label={words.uploadingFile(upload.fileName)} running />
    </span>
  );
}

/** What happens to the file now, with the seconds that are left. */
export function UploadState({ upload }: UploadProps) {
  const words = useWords(mediaWords);
  const now = useSecond();
  const { secondsLeft } = figuresOf(upload, now);
  if (upload.totalBytes === 0) return words.importing;
  if (upload.state === "checking") return words.checking;
  return secondsLeft === undefined ? words.uploading : words.secondsLeft(secondsLeft);
}

function useSecond(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

interface MeterProps {
  readonly share: number;
  readonly label: string;
  readonly running?: boolean;
}

export function Meter({ share, label, running = false }: MeterProps) {
  const percent = Math.round(Math.min(1, Math.max(0, share)) * 100);
  return (
    <span
      className={running ? css.running : css.meter}
      role="progressbar"
      aria-label={label}
      aria-valuenow={percent}
      aria-valuemin={0}
      aria-valuemax={100}
    >
      <i style={{ width: `${percent}%` }} />
    </span>
  );
}
