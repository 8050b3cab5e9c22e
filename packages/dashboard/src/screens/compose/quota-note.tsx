import type { PostriderError } from "@postrider/client";
import { CircleX } from "lucide-react";
import { Button } from "../../kit/button.tsx";
import { useSettings } from "../../settings/settings.ts";
import { toZoned } from "../../time/place-in-zone.ts";
import { placeOf } from "../../time/place-names.ts";
import { useWords } from "../../words/use-words.ts";
import { composeWords } from "./compose-words.ts";
import { useComposition } from "./composition.ts";
import { withoutAccounts } from "./draft.ts";
import { Refusal } from "./refusal.tsx";
import { useNames } from "./use-names.ts";
import { useTimeWords } from "./use-time-words.ts";
import { whenAt } from "./when.ts";

/** The limit, when it begins anew, and two ways out. */
export function QuotaNote({ error }: { readonly error: PostriderError }) {
  const words = useWords(composeWords);
  const { language } = useSettings();
  const timeWords = useTimeWords();
  const { draft, change } = useComposition();
  const { nameOf } = useNames();
  const [detail] = error.details;
  const { accountId, limit = 0 } = detail ?? {};
  const resetsAt = detail?.["resetsAt"];
  const number = new Intl.NumberFormat(language).format(limit);
  const { zone } = draft.when;
  const leads: Readonly<Record<string, string>> = {
    daily: words.quotaDay(nameOf(accountId), number),
    daily_shared: words.quotaShared(number),
  };
  return (
    <Refusal
      lead={leads[detail?.code ?? ""] ?? words.quotaMonth(number)}
      rest={
        <>
          {words.nothingSent}{" "}
          {typeof resetsAt === "string" &&
            words.beginsAnew(timeWords(toZoned(resetsAt, zone)), placeOf(zone, language))}
        </>
      }
      error={error}
      tone="bad"
      icon={CircleX}
    >
      {typeof resetsAt === "string" && (
        <Button
          kind="primary"
          onClick={() => change((before) => ({ ...before, when: whenAt(resetsAt, zone) }))}
        >
          {words.moveTo(timeWords(toZoned(resetsAt, zone)))}
        </Button>
      )}
      {accountId !== undefined && (
        <Button onClick={() => change((before) => withoutAccounts(before, [accountId]))}>
          {words.cures.leaveOut(nameOf(accountId))}
        </Button>
      )}
    </Refusal>
  );
}
