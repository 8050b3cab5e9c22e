import { Check, ListChecks } from "lucide-react";
import { Link } from "wouter";
import { Avatar } from "../../kit/avatar.tsx";
import { Button } from "../../kit/button.tsx";
import { Card } from "../../kit/card.tsx";
import { classNames } from "../../kit/class-names.ts";
import { accountLabelOf, accountNameOf } from "../../posts/account-name.ts";
import { useSettings } from "../../settings/settings.ts";
import { useWords } from "../../words/use-words.ts";
import { composeWords } from "./compose-words.ts";
import css from "./compose.module.css";
import { canPublish, shownLength, useComposition, type Writer } from "./composition.ts";
import { withAccount } from "./draft.ts";
import { faultsOf } from "./faults.ts";
import { counterText, tileState } from "./tile-state.ts";

/** The accounts, each with what stands in the way of it. */
export function AccountPicker() {
  const words = useWords(composeWords);
  const { writers, chosen, change } = useComposition();
  const open = writers.filter(canPublish);
  const isAll = chosen.length >= open.length && open.length > 0;
  const chooseAll = () =>
    change((draft) => ({ ...draft, accountIds: isAll ? [] : open.map(({ id }) => id) }));
  return (
    <Card
      title={words.publishTo}
      aside={words.chosen(chosen.length, writers.length)}
      actions={
        open.length > 1 && (
          <Button kind="ghost" small icon={ListChecks} onClick={chooseAll}>
            {isAll ? words.chooseNone : words.chooseAll}
          </Button>
        )
      }
    >
      {writers.length === 0 ? (
        <p className="pad sm">
          {words.noAccounts} <Link href="/accounts">{words.connect}</Link>
        </p>
      ) : (
        <div className={css.accounts} data-place="accounts" tabIndex={-1}>
          {writers.map((writer) => (
            <AccountTile key={writer.id} writer={writer} />
          ))}
        </div>
      )}
    </Card>
  );
}

function AccountTile({ writer }: { readonly writer: Writer }) {
  const composition = useComposition();
  const { draft, change, writers, faults, isChecked } = composition;
  const { id, username, displayName, platform } = writer;
  const isChosen = draft.accountIds.includes(id);
  const state = tileState({
    writer,
    isChosen,
    faults: faultsOf(faults, id),
    length: shownLength(composition, writer),
    isChecked,
  });
  const order = writers.map((each) => each.id);
  return (
    <button
      type="button"
      className={classNames(css.account, isChosen && css[state.tone])}
      aria-pressed={isChosen}
      aria-disabled={(!isChosen && !canPublish(writer)) || undefined}
      title={accountLabelOf(writer)}
      onClick={() => {
        if (isChosen || canPublish(writer))
          change((before) => withAccount(before, id, !isChosen, order));
      }}
    >
      <Avatar id={id} name={displayName || username} platform={platform} size="small" />
      <span className={css.accountText}>
        <b className="clip">{accountNameOf(writer)}</b>
        <TileLine writer={writer} state={state} />
      </span>
      {isChosen && <Check className={classNames("i", css.tick)} aria-hidden="true" />}
    </button>
  );
}

interface TileLineProps {
  readonly writer: Writer;
  readonly state: ReturnType<typeof tileState>;
}

function TileLine({ writer, state: { says, tone } }: TileLineProps) {
  const words = useWords(composeWords);
  const { language } = useSettings();
  const composition = useComposition();
  const counter = counterText(shownLength(composition, writer), language);
  const isOwn = composition.draft.own[writer.id]?.content !== undefined;
  const line = says === "counter" ? (isOwn ? words.tile.own(counter) : counter) : words.tile[says];
  return <span className={classNames(css.line, "num clip", css[`line-${tone}`])}>{line}</span>;
}
