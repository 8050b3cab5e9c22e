import { Plus } from "lucide-react";
import { classNames } from "../../kit/class-names.ts";
import { Menu } from "../../kit/menu.tsx";
import { PlatformTile, PLATFORMS } from "../../kit/platform-tile.tsx";
import { Tabs } from "../../kit/segments.tsx";
import { StatusIcon } from "../../kit/status.tsx";
import { pasteFiles } from "../../media/add-files.tsx";
import { accountLabelOf, accountNameOf } from "../../posts/account-name.ts";
import { useSettings } from "../../settings/settings.ts";
import { useWords } from "../../words/use-words.ts";
import { composeWords } from "./compose-words.ts";
import css from "./compose.module.css";
import { tabParts, tabsOf, useComposition, type Writer } from "./composition.ts";
import { faultsOnTab } from "./faults.ts";
import { OwnPartPanel } from "./own-part-panel.tsx";

interface TextCardProps {
  readonly onFiles: (files: Iterable<File>) => void;
  /** The files, below the text. */
  readonly children: React.ReactNode;
}

/** What is written: for all, and for single accounts. */
export function TextCard({ onFiles, children }: TextCardProps) {
  const words = useWords(composeWords);
  const { chosen, tab } = useComposition();
  const writer = chosen.find(({ id }) => id === tab);
  return (
    <section
      className={css.write}
      aria-label={words.text}
      onPaste={(event) => pasteFiles(event, onFiles)}
    >
      <TabRow />
      {writer === undefined ? <TextForAll /> : <OwnPartPanel key={writer.id} writer={writer} />}
      {children}
    </section>
  );
}

function TextForAll() {
  const words = useWords(composeWords);
  const { language } = useSettings();
  const { draft, change } = useComposition();
  const count = new Intl.NumberFormat(language).format(draft.text.length);
  return (
    <>
      <div className={css.paper}>
        <textarea
          data-place="text"
          aria-label={words.textForAllLabel}
          placeholder={words.writeHere}
          rows={7}
          spellCheck
          value={draft.text}
          onChange={({ target }) => change((before) => ({ ...before, text: target.value }))}
        />
      </div>
      <p className={classNames(css.below, "xs muted num")}>{words.characters(count)}</p>
    </>
  );
}

function TabRow() {
  const words = useWords(composeWords);
  const { draft, chosen, faults, tab, openTab } = useComposition();
  const shown = tabsOf(chosen, draft.own, tab);
  const others = chosen.filter((writer) => !shown.includes(writer));
  const segments = [
    { value: "all", label: words.textForAll },
    ...shown.map((writer) => ({
      value: writer.id,
      label: <TabLabel writer={writer} hasFaults={faultsOnTab(faults, writer.id).length > 0} />,
    })),
  ];
  const value = shown.some(({ id }) => id === tab) ? tab : "all";
  return (
    <div className={css.tabs}>
      <Tabs label={words.text} value={value} segments={segments} onChange={openTab} />
      {others.length > 0 && (
        <Menu
          label={words.changeForOne}
          items={others.map((writer) => ({
            label: accountLabelOf(writer),
            onChoose: () => openTab(writer.id),
          }))}
          trigger={(props) => (
            <button type="button" className={css.addTab} aria-haspopup="menu" {...props}>
              <Plus className="i" aria-hidden="true" />
              {words.changeForOne}
            </button>
          )}
        />
      )}
    </div>
  );
}

function TabLabel({ writer, hasFaults }: { readonly writer: Writer; readonly hasFaults: boolean }) {
  const words = useWords(composeWords);
  const { draft, chosen } = useComposition();
  const { id, platform } = writer;
  const parts = tabParts(writer, draft.own[id]);
  const names = parts.map((part, index) =>
    index === 0 ? words.tabs[part] : words.tabs[part].toLocaleLowerCase(),
  );
  const isTwice = chosen.filter((each) => each.platform === platform).length > 1;
  return (
    <>
      <PlatformTile platform={platform} />
      <span className="sr">{PLATFORMS[platform].name}</span>
      {isTwice && <span className={css.tabName}>{accountNameOf(writer)}</span>}
      {names.length === 0 ? words.tabs.nothing : names.join(", ")}
      {hasFaults && <StatusIcon status="failed" label={words.hasFaults} />}
    </>
  );
}
