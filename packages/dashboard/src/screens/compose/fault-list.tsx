import { CaptionsOff, CloudOff } from "lucide-react";
import { Button } from "../../kit/button.tsx";
import { Card } from "../../kit/card.tsx";
import { PlatformTile } from "../../kit/platform-tile.tsx";
import { StatusIcon } from "../../kit/status.tsx";
import { useWords } from "../../words/use-words.ts";
import { composeWords } from "./compose-words.ts";
import css from "./compose.module.css";
import { type Composition, useComposition } from "./composition.ts";
import { type DraftMedia, textFor, withOwn, withoutAccounts } from "./draft.ts";
import { cureWords, faultWords } from "./fault-words.ts";
import { type Cure, cureOf, type Fault } from "./faults.ts";
import { useNames } from "./use-names.ts";

interface FaultListProps {
  /** Whether the server could not say. */
  readonly failed: boolean;
  readonly onDescribe: (media: DraftMedia) => void;
}

/** What is to be fixed, each with the button that does it, and what could be better. */
export function FaultList({ failed, onDescribe }: FaultListProps) {
  const words = useWords(composeWords);
  const { draft, faults } = useComposition();
  const without = draft.media.filter(({ altText }) => altText === null);
  const isQuiet = faults.length === 0 && without.length === 0 && !failed;
  return (
    <div aria-live="polite" id="things-to-fix">
      {!isQuiet && (
        <Card
          className={faults.length > 0 ? css.faults : css.tips}
          title={faults.length > 0 ? words.fixes(faults.length) : words.nothingToFix}
          mark={faults.length > 0 && <StatusIcon status="failed" />}
          aside={words.checkedAsYouType}
        >
          <ul>
            {faults.map((fault) => (
              <FaultRow key={JSON.stringify(fault)} fault={fault} />
            ))}
            {without[0] !== undefined && (
              <DescriptionTip without={without.length} first={without[0]} onDescribe={onDescribe} />
            )}
            {failed && (
              <li className={css.tip}>
                <CloudOff className="i" aria-hidden="true" />
                <p>{words.cannotCheck}</p>
              </li>
            )}
          </ul>
        </Card>
      )}
    </div>
  );
}

function FaultRow({ fault }: { readonly fault: Fault }) {
  const composition = useComposition();
  const naming = useNames();
  const [lead, rest] = faultWords(fault, naming);
  const cure = cureOf(fault);
  return (
    <li>
      {fault.platform ? (
        <PlatformTile platform={fault.platform} />
      ) : (
        <span className={css.noTile} />
      )}
      <p>
        <b>{lead}</b> {rest}
      </p>
      <Button small data-cure="" onClick={() => carryOut(cure, composition)}>
        {cureWords(cure, fault, naming)}
      </Button>
    </li>
  );
}

function carryOut(cure: Cure, { change, go }: Composition): void {
  switch (cure.kind) {
    case "go":
      go(cure.place, cure.accountId);
      return;
    case "own_text":
      change((draft) =>
        withOwn(draft, cure.accountId, { content: textFor(draft, cure.accountId) }),
      );
      go("text", cure.accountId);
      return;
    case "leave_out":
      change((draft) => withoutAccounts(draft, [cure.accountId]));
      return;
    case "remove_media":
      change((draft) => ({
        ...draft,
        media: draft.media.filter((_media, index) => index !== cure.index),
      }));
      return;
    case "take_away":
      change((draft) => withOwn(draft, cure.accountId, { [cure.field]: undefined }));
  }
}

interface DescriptionTipProps {
  readonly without: number;
  readonly first: DraftMedia;
  readonly onDescribe: (media: DraftMedia) => void;
}

function DescriptionTip({ without, first, onDescribe }: DescriptionTipProps) {
  const words = useWords(composeWords);
  const { draft } = useComposition();
  return (
    <li className={css.tip}>
      <CaptionsOff className="i" aria-hidden="true" />
      <p>
        {words.noDescription(without, draft.media.length)}{" "}
        <span className="muted">{words.allTheSame}</span>
      </p>
      <Button small kind="ghost" onClick={() => onDescribe(first)}>
        {words.describe}
      </Button>
    </li>
  );
}
