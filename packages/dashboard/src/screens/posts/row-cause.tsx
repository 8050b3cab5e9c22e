import type { PlatformId, PostSummary } from "@postrider/client";
import type { TargetWordsJson } from "@postrider/rest/dashboard/cures";
import { RotateCcw, SearchCheck, Wrench } from "lucide-react";
import { Button, LinkButton } from "../../kit/button.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { PLATFORMS } from "../../kit/platform-tile.tsx";
import { showToast } from "../../kit/toast.tsx";
import { useAct } from "../../kit/use-act.ts";
import { retryPost } from "../../posts/failed-targets.ts";
import { LimitButton } from "../../posts/limit-button.tsx";
import { postWords } from "../../posts/post-words.ts";
import { useCan } from "../../session/session-context.ts";
import { useSettings } from "../../settings/settings.ts";
import { useWords } from "../../words/use-words.ts";
import { postsWords } from "./posts-words.ts";
import css from "./posts.module.css";
import type { RowWords } from "./row-words.ts";

interface RowCauseProps {
  readonly post: PostSummary;
  readonly words: RowWords;
}

/** Why a post failed, below its row, with the button that leads on. */
export function RowCause({ post, words }: RowCauseProps) {
  const lists = useWords(postsWords);
  const { language } = useSettings();
  const can = useCan();
  const failed = words.targets.filter(({ status }) => status === "failed");
  const [only] = failed;
  if (only === undefined) return null;
  const isAlone = words.targets.length === 1;
  return (
    <div className={css.why}>
      <span>
        <b>
          {isAlone
            ? only.cause?.[language]
            : lists.notPublished(failed.length, words.targets.length)}
        </b>{" "}
        {isAlone ? only.cure?.words[language] : <Causes failed={failed} />}
      </span>
      {can("posts:write") && <CauseAction post={post} failed={failed} />}
    </div>
  );
}

function Causes({ failed }: { readonly failed: readonly TargetWordsJson[] }) {
  const { language } = useSettings();
  return failed.map(({ targetId, platform, cause }) => (
    <span key={targetId}>
      {PLATFORMS[platform as PlatformId].name}: {cause?.[language]}{" "}
    </span>
  ));
}

interface CauseActionProps {
  readonly post: PostSummary;
  readonly failed: readonly TargetWordsJson[];
}

/** When the first limit ends, where all failed at one: before that a retry helps on no account. */
function limitEndOf(failed: readonly TargetWordsJson[]): string | undefined {
  const ends = failed.flatMap(({ waitsFor }) => waitsFor?.until ?? []);
  return ends.length === failed.length ? ends.toSorted()[0] : undefined;
}

/** Retry only where it can help; otherwise the way to the post, where each cure stands. */
function CauseAction({ post, failed }: CauseActionProps) {
  const words = useWords(postWords);
  const { run, isBusy, error } = useAct(async () => {
    showToast(words.retried(await retryPost(post)));
  });
  if (error !== undefined) return <ErrorNotice error={error} />;
  const kinds = new Set(failed.map(({ cure }) => cure?.kind));
  if (failed.every(({ retryable }) => retryable) && !kinds.has("resolve"))
    return (
      <LimitButton small until={limitEndOf(failed)}>
        <Button small icon={RotateCcw} busy={isBusy} data-key="r" onClick={run}>
          {words.retry(failed.length)}
        </Button>
      </LimitButton>
    );
  const [only] = failed;
  return kinds.has("resolve") && only !== undefined ? (
    <LinkButton small icon={SearchCheck} href={`/posts/${post.id}`}>
      {words.lookOn(PLATFORMS[only.platform as PlatformId].name)}
    </LinkButton>
  ) : (
    <LinkButton small icon={Wrench} href={`/posts/${post.id}`}>
      {words.fix(failed.length)}
    </LinkButton>
  );
}
