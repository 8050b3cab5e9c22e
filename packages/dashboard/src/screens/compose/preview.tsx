import { useState } from "react";
import { Avatar } from "../../kit/avatar.tsx";
import { Card } from "../../kit/card.tsx";
import { classNames } from "../../kit/class-names.ts";
import { PlatformTile, PLATFORMS } from "../../kit/platform-tile.tsx";
import { Tabs } from "../../kit/segments.tsx";
import { Picture } from "../../media/picture.tsx";
import { useSettings } from "../../settings/settings.ts";
import { useWords } from "../../words/use-words.ts";
import { composeWords } from "./compose-words.ts";
import css from "./compose.module.css";
import { lengthFor, shownLength, useComposition, type Writer } from "./composition.ts";
import { type DraftMedia, textFor } from "./draft.ts";
import { faultsOf } from "./faults.ts";
import { getsWords, previewParts } from "./preview-parts.ts";
import { counterText } from "./tile-state.ts";

interface PreviewProps {
  readonly urlOf: (id: string) => string | undefined;
}

/** How the post looks on each account, and what each one gets. */
export function Preview({ urlOf }: PreviewProps) {
  const words = useWords(composeWords);
  const { chosen, faults, tab } = useComposition();
  const [picked, setPicked] = useState<string>();
  // First the account whose tab is open, then the one with something to fix.
  const wanted = picked ?? (tab === "all" ? faults[0]?.accountId : tab);
  const writer = chosen.find(({ id }) => id === wanted) ?? chosen[0];
  const segments = chosen.map(({ id, platform, username }) => ({
    value: id,
    label: (
      <>
        <PlatformTile platform={platform} />
        <span className="sr">{words.previewOf(`${username}, ${PLATFORMS[platform].name}`)}</span>
      </>
    ),
  }));
  return (
    <>
      <div className={css.previewHead}>
        <h2>{words.preview}</h2>
        {writer !== undefined && (
          <Tabs label={words.preview} value={writer.id} segments={segments} onChange={setPicked} />
        )}
      </div>
      {writer === undefined ? (
        <p className="sm muted">{words.choosePreview}</p>
      ) : (
        <>
          <PreviewCard writer={writer} urlOf={urlOf} />
          <WhatEachGets />
        </>
      )}
    </>
  );
}

function PreviewCard({ writer, urlOf }: PreviewProps & { readonly writer: Writer }) {
  const { draft } = useComposition();
  const { id, username, displayName, externalId, platform } = writer;
  const title = draft.own[id]?.title ?? "";
  return (
    <article className={css.previewCard}>
      <header>
        <Avatar id={id} name={displayName || username} platform={platform} />
        <div className={css.previewWho}>
          <b className="clip">{displayName || username}</b>
          {username !== externalId && <small className="muted clip">@{username}</small>}
        </div>
        <span className="push muted">{PLATFORMS[platform].name}</span>
      </header>
      {title !== "" && <p className={css.previewTitle}>{title}</p>}
      <PreviewText writer={writer} />
      <PreviewMedia media={draft.media} urlOf={urlOf} />
      <PreviewFoot writer={writer} />
    </article>
  );
}

function PreviewText({ writer }: { readonly writer: Writer }) {
  const { draft } = useComposition();
  const parts = previewParts(textFor(draft, writer.id), lengthFor(draft, writer));
  return (
    <p className={css.previewText}>
      {parts.map(({ text, isLink, isOver }, index) => {
        const inside = isOver ? <mark>{text}</mark> : text;
        // The parts have no name of their own, and are drawn anew with each change.
        // oxlint-disable-next-line react/no-array-index-key
        return isLink ? (
          <span key={index} className={css.link}>
            {inside}
          </span>
        ) : (
          <span key={index}>{inside}</span>
        );
      })}
    </p>
  );
}

const MAX_SHOWN = 3;

function PreviewMedia({ media, urlOf }: PreviewProps & { readonly media: readonly DraftMedia[] }) {
  if (media.length === 0) return null;
  const shown = media.slice(0, MAX_SHOWN);
  return (
    <div className={classNames(css.previewMedia, css[`of${shown.length}`])}>
      {shown.map(({ id, kind, altText }, index) => (
        <span key={id} className={css.previewPicture}>
          <Picture url={urlOf(id)} previewOf={id} kind={kind} altText={altText} />
          {index === MAX_SHOWN - 1 && media.length > MAX_SHOWN && (
            <span className={css.furtherFiles}>+{media.length - MAX_SHOWN}</span>
          )}
        </span>
      ))}
    </div>
  );
}

function PreviewFoot({ writer }: { readonly writer: Writer }) {
  const words = useWords(composeWords);
  const { language } = useSettings();
  const composition = useComposition();
  const length = shownLength(composition, writer);
  const over = length.count - length.max;
  const isOwn = composition.draft.own[writer.id]?.content !== undefined;
  const numbers = new Intl.NumberFormat(language);
  const said = isOwn ? words.usesOwnText : words.fits;
  return (
    <footer>
      <span className={classNames("num", over > 0 && css.overText)}>
        {counterText(length, language)}
      </span>
      <span>
        {over > 0
          ? words.over(words.characters(numbers.format(over)), PLATFORMS[writer.platform].name)
          : said}
      </span>
    </footer>
  );
}

/** Accounts that do not take the files get nothing yet. */
function WhatEachGets() {
  const words = useWords(composeWords);
  const { draft, chosen, faults } = useComposition();
  const getting = chosen.filter(
    ({ id }) => !faultsOf(faults, id).some(({ place }) => place === "media"),
  );
  return (
    <Card>
      <div className="pad stack-s sm">
        <h3>{words.whatEachGets}</h3>
        <ul className={css.gets}>
          {getting.map((writer) => (
            <li key={writer.id}>
              <PlatformTile platform={writer.platform} />
              <span className="sr">{writer.username}</span>
              <span className="quiet">{getsWords(draft, writer, words.gets)}</span>
            </li>
          ))}
        </ul>
      </div>
    </Card>
  );
}
