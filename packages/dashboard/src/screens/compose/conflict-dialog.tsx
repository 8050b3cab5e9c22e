import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { Time } from "../../kit/time.tsx";
import { accountNameOf } from "../../posts/account-name.ts";
import { postWords } from "../../posts/post-words.ts";
import type { PostVersion } from "../../posts/posts-api.ts";
import { useSettings } from "../../settings/settings.ts";
import { clockOf } from "../../time/format-time.ts";
import { toZoned } from "../../time/place-in-zone.ts";
import { useWords } from "../../words/use-words.ts";
import { composeWords } from "./compose-words.ts";
import css from "./compose.module.css";
import { useComposition, type Writer } from "./composition.ts";
import { type Draft, partsOf } from "./draft.ts";
import { differingParts, type Part } from "./edit-changes.ts";
import { scheduledAtOf } from "./when.ts";

interface ConflictDialogProps {
  readonly theirs: PostVersion;
  readonly onKeepTheirs: () => void;
  readonly onUseMine: () => void;
  readonly onClose: () => void;
}

/** Both versions side by side; nothing is overwritten without a choice. */
export function ConflictDialog({ theirs, onKeepTheirs, onUseMine, onClose }: ConflictDialogProps) {
  const words = useWords(composeWords);
  const asked = useWords(postWords).conflict;
  const { zone, language } = useSettings();
  const { draft } = useComposition();
  const { post } = theirs;
  const their: Shown = { ...partsOf(post), at: post.scheduledAt ?? undefined };
  const mine: Shown = { ...draft, at: scheduledAtOf(draft.when) };
  return (
    <Dialog
      wide
      title={asked.title(clockOf(toZoned(post.updatedAt, zone), language))}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onKeepTheirs}>{asked.keep}</Button>
          <Button kind="primary" onClick={onUseMine}>
            {asked.mine}
          </Button>
        </>
      }
    >
      <p className="sm quiet">{asked.hint}</p>
      <div className={css.versions}>
        <span />
        <b>{words.theirs}</b>
        <b>{words.mine}</b>
        {differingParts(post, draft).map((part) => (
          <PartRow key={part} part={part} theirs={their} mine={mine} />
        ))}
      </div>
    </Dialog>
  );
}

interface Shown extends Pick<Draft, "text" | "accountIds" | "media" | "own"> {
  readonly at: string | undefined;
}

interface PartRowProps {
  readonly part: Part;
  readonly theirs: Shown;
  readonly mine: Shown;
}

function PartRow({ part, theirs, mine }: PartRowProps) {
  const words = useWords(composeWords);
  return (
    <>
      <span className="muted sm">{words.fields[part]}</span>
      <div className={css.theirs}>
        <PartValue part={part} shown={theirs} />
      </div>
      <div className={css.mine}>
        <PartValue part={part} shown={mine} />
      </div>
    </>
  );
}

function PartValue({ part, shown }: { readonly part: Part; readonly shown: Shown }) {
  const words = useWords(composeWords);
  const { writers } = useComposition();
  const { text, at, media, accountIds, own } = shown;
  if (part === "text") return text === "" ? words.emptyText : text;
  if (part === "time") return at === undefined ? words.noTimeYet : <Time at={at} show="day" />;
  if (part === "media") return media.map(({ fileName }) => fileName).join(", ") || words.files(0);
  if (part === "accounts") return namesOf(accountIds, writers).join(", ");
  const lines = Object.entries(own).map(([id, { content = "", title = "" }]) =>
    [namesOf([id], writers).join(""), title, content].filter((line) => line !== "").join(": "),
  );
  return lines.length === 0 ? words.ownParts(0) : lines.join("\n");
}

function namesOf(ids: readonly string[], writers: readonly Writer[]): readonly string[] {
  return ids.map((id) => {
    const writer = writers.find((each) => each.id === id);
    return writer === undefined ? id : accountNameOf(writer);
  });
}
