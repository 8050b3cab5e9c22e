import type { Scene } from "./scenes.ts";

/** Accounts of the shown workspace: username on the simulated platform, and the name shown. */
export const ACCOUNTS = {
  hangangIg: ["instagram", "hangang.bike", "한강자전거"],
  spreeIg: ["instagram", "spree.cycles", "Spree Cycles"],
  x: ["x", "spreecycles", "Spree Cycles"],
  fb: ["facebook", "spree.cycles.berlin", "Spree Cycles Berlin: Werkstatt und Verkauf"],
  tk: ["tiktok", "hangang_bike", "한강자전거"],
  yt: ["youtube", "hangang-garage", "한강자전거 정비소"],
  te: ["telegram", "hangang_riders", "한강 라이더 공지방"],
  bs: ["bluesky", "spree-cycles.example", "Spree Cycles"],
} as const;

export type AccountName = keyof typeof ACCOUNTS;

export interface ShownPost {
  readonly text: string;
  readonly on: readonly AccountName[];
  readonly scene?: Scene;
  readonly isVideo?: true;
  /** Days from today, negative in the past, and clock time in Seoul. */
  readonly at: readonly [days: number, clock: string];
}

export const PUBLISHED: readonly ShownPost[] = [
  {
    text: "The express service is back: bring it before 11, ride it home at 18.",
    on: ["x", "bs", "fb"],
    at: [0, "09:30"],
  },
  {
    text: "겨울 라이딩 체크리스트 7가지. 저장해 두고 출발 전에 확인하세요.",
    on: ["spreeIg", "te", "x"],
    scene: "lights",
    at: [-1, "18:00"],
  },
  {
    text: "Zwei neue Lastenräder stehen zur Probefahrt bereit: Dienstag bis Samstag, ohne Termin.",
    on: ["spreeIg", "fb", "bs"],
    scene: "cargo",
    at: [-2, "17:30"],
  },
  {
    text: "Cargo bikes: the full price list, with and without a motor.",
    on: ["x", "spreeIg", "fb", "bs"],
    scene: "shop",
    at: [-3, "12:00"],
  },
  {
    text: "Chain wear in 30 seconds: what the gauge says, and when it is time.",
    on: ["x", "bs"],
    scene: "wheel",
    at: [-5, "09:30"],
  },
  {
    text: "체인 세척 5분 루틴. 정비소에서 매일 하는 순서 그대로입니다.",
    on: ["spreeIg", "te"],
    scene: "tools",
    at: [-7, "18:00"],
  },
  {
    text: "Thank you, 214 riders, for the lantern ride along the Spree.",
    on: ["x", "fb", "bs"],
    scene: "bridge",
    at: [-9, "20:15"],
  },
  {
    text: "한강 야간 라이딩 후기: 반포에서 뚝섬까지 42명이 함께 달렸습니다.",
    on: ["te", "x"],
    scene: "hills",
    at: [-11, "21:00"],
  },
  {
    text: "Opening hours in winter: Monday to Saturday, 9 to 19.",
    on: ["fb", "bs"],
    at: [-14, "10:00"],
  },
  { text: "Which tyre width do you ride in winter?", on: ["x", "bs"], at: [-16, "09:30"] },
];

export const SCHEDULED: readonly ShownPost[] = [
  {
    text: "Kurze Frage: Welche Reifenbreite fahrt ihr im Winter?",
    on: ["x", "bs"],
    at: [1, "09:30"],
  },
  {
    text: "Wartungstipp: Kette messen, bevor sie die Kassette ruiniert. Ab 0,75 % Längung ist Schluss.",
    on: ["spreeIg", "x", "fb", "bs"],
    scene: "wheel",
    at: [1, "17:30"],
  },
  {
    text: "윈터 라이딩 세일, 금요일 저녁 6시 시작. 방한 장갑과 튜브리스 실란트 20 % 할인.",
    on: ["hangangIg", "spreeIg", "te"],
    scene: "bridge",
    at: [3, "18:00"],
  },
  {
    text: "On Saturday you true your own wheel. Six places, tools are here.",
    on: ["x", "fb", "bs"],
    at: [4, "10:00"],
  },
  {
    text: "새벽 라이딩 코스 추천: 잠수교에서 행주산성까지 24 km.",
    on: ["te", "spreeIg"],
    scene: "route",
    at: [5, "06:30"],
  },
];

export const DRAFTS: readonly Omit<ShownPost, "at">[] = [
  {
    text: "Friday ride: meet at Oberbaumbrücke, lights on, 32 km at an easy pace.",
    on: ["x", "bs", "fb"],
  },
  { text: "신년 라이딩 공지 초안", on: ["te"] },
];

export const COMMENTS: readonly (readonly [post: number, author: string, text: string])[] = [
  [1, "minji.rides", "장갑은 어디 제품인가요? 링크 부탁드려요!"],
  [1, "lena_on_bikes", "Which lamp is that in the second picture?"],
  [2, "kiez.kurier", "Was kostet das Modell mit Motor?"],
  [2, "jonas.w", "Can I come on Sunday as well?"],
  [2, "hyunwoo", "한국에서도 시승할 수 있나요?"],
  [3, "paula_p", "Is there a discount for two?"],
  [5, "jay.seoul", "덕분에 체인 소리가 사라졌어요. 감사합니다!"],
];

/** Comments that are written once the rule for prices is active; it matches each of them. */
export const ANSWERED: typeof COMMENTS = [
  [2, "sora.rides", "가격 알려주세요. 배터리도 포함인가요?"],
  [3, "tom_from_kreuzberg", "Price for the blue one?"],
  [2, "bike.fan_b", "What is the price, and do you refund the deposit if I change my mind?"],
  [3, "kiez.kurier", "Und was kostet es ohne Motor?"],
];
