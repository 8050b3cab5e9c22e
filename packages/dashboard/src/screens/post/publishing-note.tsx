import type { PostDetail } from "@postrider/client";
import { Send } from "lucide-react";
import { useEffect, useState } from "react";
import { Note } from "../../kit/card.tsx";
import { useSettings } from "../../settings/settings.ts";
import { clockWithSecondsOf, durationOf } from "../../time/format-time.ts";
import { toZoned } from "../../time/place-in-zone.ts";
import { placeOf } from "../../time/place-names.ts";
import { kitWords } from "../../words/kit-words.ts";
import { useWords } from "../../words/use-words.ts";
import { detailWords } from "./detail-words.ts";

const TICK_MS = 100;

/** Says that it is under way, and that it does not need this page. */
export function PublishingNote({ post }: { readonly post: PostDetail }) {
  const words = useWords(detailWords);
  const { zone, language } = useSettings();
  const since = post.startedAt ?? post.updatedAt;
  if (post.status !== "publishing") return null;
  const done = post.targets.filter(({ status }) => status === "published").length;
  const clock = clockWithSecondsOf(toZoned(since, zone));
  return (
    <Note tone="info" icon={Send} actions={<Elapsed since={since} />}>
      <b>{words.publishingSince(clock, placeOf(zone, language))}</b>{" "}
      {words.visible(done, post.targets.length)} {words.mayLeave}
    </Note>
  );
}

function Elapsed({ since }: { readonly since: string }) {
  const { distance } = useWords(kitWords);
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <span className="num sm muted nowrap" aria-hidden="true">
      {durationOf(Math.max(0, now - Date.parse(since)), distance)}
    </span>
  );
}

/** Tells a screen reader the result once, and not every account on the way to it. */
export function FinalNote({ post: { status, targets } }: { readonly post: PostDetail }) {
  const words = useWords(detailWords).final;
  const [first] = useState(status);
  const done = targets.filter((target) => target.status === "published").length;
  const text = {
    published: words.published(targets.length),
    partial: words.partial(done, targets.length),
    failed: words.failed,
  }[status as "published" | "partial" | "failed"];
  return (
    <p className="sr" role="status">
      {first !== status && text}
    </p>
  );
}
