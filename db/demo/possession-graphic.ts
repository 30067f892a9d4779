// A graphic in OGraf's format, as a designer would deliver it: who has had the ball, and in a second step the shots.

export const POSSESSION_MANIFEST = {
  $schema: "https://ograf.ebu.io/v1/specification/json-schemas/graphics/schema.json",
  id: "demo.harbour-city.possession",
  version: "1",
  name: "Possession",
  description: "Who has had the ball, and in a second step the shots",
  author: { name: "Harbour City FC" },
  main: "possession.mjs",
  supportsRealTime: true,
  supportsNonRealTime: false,
  stepCount: 2,
  schema: {
    type: "object",
    required: ["homeShare"],
    properties: {
      homeName: { type: "string", title: "Home team", gddType: "single-line", maxLength: 30, default: "Harbour City" },
      awayName: { type: "string", title: "Away team", gddType: "single-line", maxLength: 30, default: "Old Dock" },
      homeShare: { type: "integer", title: "Home team's possession in percent", minimum: 0, maximum: 100, default: 50 },
      homeShots: { type: "integer", title: "Home team's shots", minimum: 0, maximum: 99, default: 0 },
      awayShots: { type: "integer", title: "Away team's shots", minimum: 0, maximum: 99, default: 0 },
      homeColor: { type: "string", title: "Home colour", gddType: "color-rrggbb", pattern: "^#[0-9a-f]{6}$", default: "#6e5ffb" },
      awayColor: { type: "string", title: "Away colour", gddType: "color-rrggbb", pattern: "^#[0-9a-f]{6}$", default: "#e8642c" },
    },
  },
  customActions: [
    {
      id: "highlight",
      name: "Highlight",
      description: "Makes one team's share flash",
      schema: {
        type: "object",
        required: ["team"],
        properties: {
          team: { type: "string", gddType: "select", enum: ["home", "away"], gddOptions: { labels: { home: "Home", away: "Away" } } },
        },
      },
    },
  ],
  renderRequirements: [{ resolution: { width: { ideal: 1920 }, height: { ideal: 1080 } } }],
};

export const POSSESSION_SCRIPT = `const STYLE = \`
:host { font: 600 36px/1.2 "Barlow Condensed", system-ui, sans-serif; color: #fff; }
.panel { position: absolute; left: 50%; bottom: 7%; box-sizing: border-box; width: 1080px; margin-left: -540px;
  padding: 26px 36px 32px; border-radius: 16px; background: rgb(11 18 32 / .92); opacity: 0; }
.row { display: flex; justify-content: space-between; gap: 32px; font-variant-numeric: tabular-nums; }
.row span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.share { font-size: 60px; line-height: 1; }
.bar { height: 18px; margin-top: 18px; overflow: hidden; border-radius: 9px; background: var(--away); }
.home { height: 100%; background: var(--home); transform-origin: left; transition: transform .7s cubic-bezier(.2, .8, .2, 1); }
.shots { margin-top: 18px; opacity: 0; }
\`;
const MARKUP = \`<div class="panel">
  <div class="row"><span data-text="homeName"></span><span data-text="awayName"></span></div>
  <div class="row share"><span data-share="home"></span><span data-share="away"></span></div>
  <div class="bar"><div class="home"></div></div>
  <div class="row shots"><span data-text="homeShots"></span><span>Shots</span><span data-text="awayShots"></span></div>
</div>\`;
const EASE = "cubic-bezier(.2, .8, .2, 1)";

export default class Possession extends HTMLElement {
  #root = this.attachShadow({ mode: "open" });
  #step = -1;

  async load({ data }) {
    this.#root.innerHTML = "<style>" + STYLE + "</style>" + MARKUP;
    this.#fill(data);
    return { statusCode: 200 };
  }

  async playAction({ goto, delta = 1, skipAnimation }) {
    const step = Math.max(0, goto ?? this.#step + delta);
    if (step > 1) return this.stopAction({ skipAnimation });
    const enters = this.#step === -1;
    this.#step = step;
    const moves = [this.#move(".shots", { opacity: step }, skipAnimation)];
    if (enters) moves.push(this.#move(".panel", { opacity: 1, transform: ["translateY(60px)", "none"] }, skipAnimation));
    await Promise.all(moves);
    return { statusCode: 200, currentStep: step };
  }

  async updateAction({ data }) {
    this.#fill(data);
    return { statusCode: 200 };
  }

  async stopAction({ skipAnimation }) {
    this.#step = -1;
    await this.#move(".panel", { opacity: 0, transform: "translateY(60px)" }, skipAnimation);
    return { statusCode: 200, currentStep: undefined };
  }

  async customAction({ id, payload, skipAnimation }) {
    if (id !== "highlight") return { statusCode: 400, statusMessage: "Unknown action" };
    const share = this.#root.querySelector("[data-share=" + payload.team + "]");
    if (!skipAnimation) await share.animate({ opacity: [1, .2, 1, .2, 1] }, 1200).finished;
    return { statusCode: 200 };
  }

  async dispose() {
    this.#root.replaceChildren();
    return { statusCode: 200 };
  }

  #fill(data) {
    for (const element of this.#root.querySelectorAll("[data-text]")) element.textContent = data[element.dataset.text];
    const { homeShare } = data;
    for (const [team, share] of [["home", homeShare], ["away", 100 - homeShare]])
      this.#root.querySelector("[data-share=" + team + "]").textContent = share + " %";
    const panel = this.#root.querySelector(".panel");
    panel.style.setProperty("--home", data.homeColor);
    panel.style.setProperty("--away", data.awayColor);
    this.#root.querySelector(".home").style.transform = "scaleX(" + homeShare / 100 + ")";
  }

  #move(selector, keyframes, skipAnimation) {
    const options = { duration: skipAnimation ? 0 : 450, easing: EASE, fill: "forwards" };
    return this.#root.querySelector(selector).animate(keyframes, options).finished;
  }
}
`;
