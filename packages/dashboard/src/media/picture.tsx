import { FileImage, FileVideo, Play } from "lucide-react";
import { useState } from "react";
import { classNames } from "../kit/class-names.ts";
import { mediaSource } from "../posts/media-source.ts";
import { useSession } from "../session/session-context.ts";
import { useWords } from "../words/use-words.ts";
import { mediaWords } from "./media-words.ts";
import css from "./media.module.css";
import { previewPath } from "./preview-path.ts";
import { durationText } from "./upload-state.ts";

interface PictureProps {
  /** Undefined while it is not known. */
  readonly url: string | undefined;
  /** Media whose small picture is enough; the file itself is shown where it has none. */
  readonly previewOf?: string;
  readonly kind: "image" | "video";
  readonly altText?: string | null | undefined;
  readonly durationMs?: number | null;
  readonly className?: string | undefined;
}

/** A picture, or the first frame of a video with its length; an icon where it cannot be shown. */
export function Picture({ durationMs = null, className, ...content }: PictureProps) {
  return (
    <span className={classNames(css.picture, className)}>
      <Content {...content} />
      {durationMs !== null && (
        <span className={classNames(css.length, "num")}>
          <Play className="i i-s" aria-hidden="true" />
          {durationText(durationMs)}
        </span>
      )}
    </span>
  );
}

function Content({ kind, altText, ...from }: PictureProps) {
  const words = useWords(mediaWords);
  const [failed, setFailed] = useState<readonly string[]>([]);
  const source = useSources({ kind, ...from }).find((one) => !failed.includes(one));
  if (source === undefined) return <NoPicture kind={kind} label={altText ?? words.notThere} />;
  const label = altText ?? words.noDescription;
  const fail = () => setFailed((before) => [...before, source]);
  if (kind === "video")
    return (
      <video src={source} aria-label={label} preload="metadata" muted playsInline onError={fail} />
    );
  return (
    <img
      src={source}
      alt={label}
      loading="lazy"
      decoding="async"
      draggable={false}
      onError={fail}
    />
  );
}

/** Where the picture can be read, the best first. */
function useSources({ url, previewOf, kind }: PictureProps): readonly string[] {
  const { uploadOrigins } = useSession();
  const small = previewOf === undefined || kind === "video" ? [] : [previewPath(previewOf)];
  if (url === undefined) return small;
  const isLocal = url.startsWith("blob:");
  return [...small, isLocal ? url : mediaSource(url, location.origin, uploadOrigins)];
}

function NoPicture({ kind, label }: { readonly kind: "image" | "video"; readonly label: string }) {
  const Icon = kind === "video" ? FileVideo : FileImage;
  return (
    <span role="img" aria-label={label} className={css.none}>
      <Icon className="i i-l" aria-hidden="true" />
    </span>
  );
}
