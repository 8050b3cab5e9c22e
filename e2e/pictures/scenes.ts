import sharp from "sharp";

const sky = (top: string, bottom: string) =>
  `<defs><linearGradient id="sky" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="${top}"/><stop offset="1" stop-color="${bottom}"/></linearGradient></defs><rect width="600" height="600" fill="url(#sky)"/>`;
const wheel = (x: number, y: number, r: number) =>
  `<circle cx="${x}" cy="${y}" r="${r}" fill="none" stroke="#20262c" stroke-width="${r / 10}"/><circle cx="${x}" cy="${y}" r="${r / 8}" fill="#20262c"/>` +
  [0, 30, 60, 90, 120, 150]
    .map(
      (turn) =>
        `<path d="M${x - r} ${y}H${x + r}" stroke="#56616b" stroke-width="${r / 60}" transform="rotate(${turn} ${x} ${y})"/>`,
    )
    .join("");

/** What the pictures of the shown workspace are of, each drawn on 600 by 600. */
const SCENES = {
  bridge: `${sky("#bcd3e6", "#f3dfc4")}<circle cx="430" cy="170" r="52" fill="#f2a65a"/><path d="M0 420h600v180H0z" fill="#4f7f9e"/><path d="M0 380h600v26H0z" fill="#2d3a45"/><path d="M60 380q120-190 240 0q120-190 240 0" fill="none" stroke="#2d3a45" stroke-width="14"/><path d="M0 470h600M40 520h480" stroke="#7fa6bd" stroke-width="6"/>`,
  wheel: `<rect width="600" height="600" fill="#cfd8c9"/><path d="M0 470h600v130H0z" fill="#a9b79f"/>${wheel(300, 300, 205)}`,
  shop: `${sky("#e7d2b8", "#f5ece0")}<path d="M70 200h460v330H70z" fill="#7c3f2d"/><path d="M40 130h520l-30 90H70z" fill="#b9482f"/><path d="M120 300h150v230H120z" fill="#3a211a"/><path d="M320 300h160v130H320z" fill="#f6d58a"/><path d="M0 530h600v70H0z" fill="#8d8478"/>`,
  route: `<rect width="600" height="600" fill="#dce8dc"/><path d="M-20 210q180-90 330 20t310 10v130q-170 70-310-10T-20 350z" fill="#8fb8d4"/><path d="M60 540L190 420 300 450 380 300 520 90" fill="none" stroke="#c4402f" stroke-width="12" stroke-dasharray="24 16"/><circle cx="60" cy="540" r="22" fill="#c4402f"/><circle cx="520" cy="90" r="22" fill="#c4402f"/>`,
  hills: `${sky("#f4c9a2", "#f7e6d2")}<path d="M0 430L180 200 330 400 450 270 600 430V600H0z" fill="#8a4f52"/><path d="M0 500q300-110 600 0v100H0z" fill="#5b3340"/><circle cx="455" cy="140" r="48" fill="#fff3dd"/>`,
  lights: `${sky("#18202c", "#33455e")}<path d="M0 460h600v140H0z" fill="#10161e"/><path d="M260 600L300 330 340 600z" fill="#f3d27a" opacity=".55"/>${[90, 190, 410, 510].map((x) => `<path d="M${x} 240v230" stroke="#0c1016" stroke-width="10"/><circle cx="${x}" cy="232" r="20" fill="#f6d58a"/>`).join("")}`,
  cargo: `<rect width="600" height="600" fill="#e9dfcf"/><path d="M0 480h600v120H0z" fill="#cbbda6"/>${wheel(150, 420, 92)}${wheel(450, 420, 92)}<path d="M150 420L250 260H420L450 420M250 260L310 420" fill="none" stroke="#1f5f52" stroke-width="16"/><path d="M300 210h210v130H330z" fill="#2f7f6c"/>`,
  tools: `<rect width="600" height="600" fill="#c9cfd6"/>${[120, 230, 340, 450].map((x, index) => `<path d="M${x} 110v${260 + 40 * (index % 2)}" stroke="#39424b" stroke-width="26" stroke-linecap="round"/><circle cx="${x}" cy="110" r="38" fill="none" stroke="#39424b" stroke-width="22"/>`).join("")}<path d="M40 500h520" stroke="#8b5a3c" stroke-width="60"/>`,
} as const;

export type Scene = keyof typeof SCENES;

/** For people who do not see them. */
export const DESCRIPTIONS: Readonly<Record<Scene, string>> = {
  bridge: "A bridge with two arches at dusk, the sun low over the river",
  wheel: "A spoked wheel, seen from the side",
  shop: "The shop with its red roof and a lit window",
  route: "A map of the river with a dashed route",
  hills: "Two hills in the evening light",
  lights: "A road at night between four street lamps",
  cargo: "A green cargo bike with a box",
  tools: "Four wrenches above a work bench",
};

/** Draws a scene as a JPEG, so that the repository needs no binary file. */
export async function drawScene(scene: Scene): Promise<Uint8Array<ArrayBuffer>> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="1200" viewBox="0 0 600 600">${SCENES[scene]}</svg>`;
  return new Uint8Array(await sharp(Buffer.from(svg)).jpeg({ quality: 88 }).toBuffer());
}
