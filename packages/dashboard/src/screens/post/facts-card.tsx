import type { PostDetail } from "@postrider/client";
import { MoveRight, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import { Button } from "../../kit/button.tsx";
import { Card } from "../../kit/card.tsx";
import { CopyButton } from "../../kit/copy-button.tsx";
import { StatusLabel } from "../../kit/status.tsx";
import { Time } from "../../kit/time.tsx";
import { DeleteDialog } from "../../posts/delete-dialog.tsx";
import { MoveDialog } from "../../posts/move-dialog.tsx";
import { isPlanned } from "../../posts/move-post.ts";
import { useMoveLabel } from "../../posts/use-move-label.ts";
import { useCan } from "../../session/session-context.ts";
import { ownZone, useSettings } from "../../settings/settings.ts";
import { clockElsewhere, clockWithMsOf, durationOf } from "../../time/format-time.ts";
import { toZoned } from "../../time/place-in-zone.ts";
import { placeOf } from "../../time/place-names.ts";
import { kitWords } from "../../words/kit-words.ts";
import { useWords } from "../../words/use-words.ts";
import { postsWords } from "../posts/posts-words.ts";
import { detailWords } from "./detail-words.ts";

/** State, times and id of the post; below them the last thing that can be done with it. */
export function FactsCard({ post }: { readonly post: PostDetail }) {
  const words = useWords(detailWords);
  const lists = useWords(postsWords);
  return (
    <>
      <Card>
        <dl className="kv pad">
          <Fact name={words.status}>
            <StatusLabel status={post.status} />
          </Fact>
          <Fact name={words.due}>
            <Due at={post.scheduledAt ?? post.startedAt} />
          </Fact>
          {post.startedAt !== null && (
            <Fact name={words.started}>
              <Started post={post} at={post.startedAt} />
            </Fact>
          )}
          <Fact name={words.made}>
            {lists.via[post.createdVia]}, <Time at={post.createdAt} show="day" />
          </Fact>
          <Fact name={words.id}>
            <span className="row">
              <code className="clip">{post.id}</code>
              <CopyButton text={post.id} label={words.copyId} />
            </span>
          </Fact>
        </dl>
      </Card>
      <Actions post={post} />
    </>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Due({ at }: { readonly at: string | null }) {
  const words = useWords(detailWords);
  const { zone, language } = useSettings();
  if (at === null) return <span className="muted">{words.noTime}</span>;
  const here = toZoned(at, zone);
  const others = [...new Set([ownZone(), "UTC"])].filter((other) => other !== zone);
  return (
    <>
      <Time at={at} show="day" />
      <br />
      <span className="muted xs num">
        {others
          .map((other) => `${clockElsewhere(here, other, language)} ${placeOf(other, language)}`)
          .join(" · ")}
      </span>
    </>
  );
}

/** With the delay against its time, where there is one. */
function Started({ post, at }: { readonly post: PostDetail; readonly at: string }) {
  const { zone } = useSettings();
  const { distance } = useWords(kitWords);
  const delay = post.scheduledAt === null ? null : Date.parse(at) - Date.parse(post.scheduledAt);
  return (
    <span className="num">
      {clockWithMsOf(toZoned(at, zone))}{" "}
      {delay !== null && delay >= 0 && (
        <span className="muted xs">+{durationOf(delay, distance)}</span>
      )}
    </span>
  );
}

function Actions({ post }: { readonly post: PostDetail }) {
  const words = useWords(detailWords);
  const move = useMoveLabel(post);
  const [, navigate] = useLocation();
  const [open, setOpen] = useState<"move" | "delete">();
  const published = post.targets.filter(({ status }) =>
    ["published", "delete_failed"].includes(status),
  ).length;
  const canMove = isPlanned(post);
  if (!useCan()("posts:write")) return <p className="xs muted">{words.readOnly}</p>;
  return (
    <div className="row wrap">
      {canMove && (
        <Button icon={MoveRight} data-key="m" onClick={() => setOpen("move")}>
          {move}
        </Button>
      )}
      {post.status !== "cancelled" && (
        <Button kind="danger" icon={Trash2} onClick={() => setOpen("delete")}>
          {published === 0 ? words.delete : words.deleteFrom(published)}
        </Button>
      )}
      {open === "move" && <MoveDialog post={post} onClose={() => setOpen(undefined)} />}
      {open === "delete" && (
        <DeleteDialog
          post={post}
          onClose={() => setOpen(undefined)}
          onDeleted={canMove ? () => navigate("/posts") : undefined}
        />
      )}
    </div>
  );
}
