import { CureButton, type Failure } from "../../posts/cure-button.tsx";
import { useCan } from "../../session/session-context.ts";
import { useSettings } from "../../settings/settings.ts";
import css from "./post.module.css";
import { ResolveButtons } from "./resolve-buttons.tsx";
import type { TargetProps } from "./target-props.ts";

/** What happened, what to do, and the button that does it. */
export function TargetCure({ post, target, words, isFirst }: TargetProps) {
  const { language } = useSettings();
  const can = useCan();
  const failure = failureOf({ post, target, words });
  if (failure === undefined) return null;
  return (
    <div className={css.cure}>
      <p>
        <b>{words?.cause?.[language]}</b> {words?.cure?.words[language]}
      </p>
      {can("posts:write") && (
        <div className={css.buttons}>
          <CureButton failure={failure} primary={isFirst} />
          {failure.kind === "resolve" && <ResolveButtons failure={failure} />}
        </div>
      )}
    </div>
  );
}

/** Undefined where nothing has failed, or where it goes on by itself. */
function failureOf({ post, target, words }: Omit<TargetProps, "isFirst">): Failure | undefined {
  const { error, accountId, platform, username, permalink, id, attemptCount } = target;
  if (error === null || !words?.cure || words.cure.kind === "wait") return undefined;
  const { kind } = words.cure;
  const { message } = words;
  const ids = { postId: post.id, targetId: id, accountId, attemptCount };
  const links = { permalink, secondPermalink: words.secondPermalink };
  return { ...ids, platform, username, code: error.code, kind, message, retryable: 1, ...links };
}
