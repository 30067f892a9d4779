/**
 * The lower third that shows a question. Variables are escaped when they are filled in. Sizes follow the width of the frame that overlays
 * are shown in, so that it looks the same on a phone and on a television.
 */
export const QUESTION_HTML = `<style>
  .tifo-question { box-sizing: border-box; display: flex; gap: 14px; align-items: flex-start; width: min(640px, 92vw); margin: 0; padding: 16px 20px 16px 16px;
    color: #fff; font: 500 18px/1.35 system-ui, sans-serif; text-align: start; background: linear-gradient(100deg, #10162b 0%, #1c2550 100%); border-radius: 16px;
    border-inline-start: 6px solid #6d8bff; box-shadow: 0 14px 40px rgb(0 0 0 / 45%); animation: tifo-question-in .45s cubic-bezier(.2, .8, .2, 1) both; }
  .tifo-question-mark { flex: none; display: grid; place-items: center; width: 44px; height: 44px; font-size: 20px; font-weight: 700; color: #10162b; background: #b9c6ff; border-radius: 50%; }
  .tifo-question-body { flex: 1; min-width: 0; }
  .tifo-question-label { display: flex; gap: 8px; align-items: baseline; margin: 0 0 4px; font-size: 13px; letter-spacing: .02em; color: #b9c6ff; }
  .tifo-question-label b { overflow: hidden; color: #fff; text-overflow: ellipsis; white-space: nowrap; }
  .tifo-question-label span { flex: none; margin-inline-start: auto; }
  .tifo-question-text { display: -webkit-box; margin: 0; overflow: hidden; -webkit-box-orient: vertical; -webkit-line-clamp: 4; overflow-wrap: anywhere; }
  @keyframes tifo-question-in { from { opacity: 0; transform: translateY(24px); } }
  @media (max-width: 480px) { .tifo-question { gap: 10px; padding: 12px 14px 12px 10px; font-size: 15px; border-radius: 12px; } .tifo-question-mark { width: 34px; height: 34px; font-size: 16px; } }
  @media (prefers-reduced-motion: reduce) { .tifo-question { animation: none; } }
</style>
<section class="tifo-question" aria-label="Question from the audience">
  <div class="tifo-question-mark" aria-hidden="true">{{initial}}</div>
  <div class="tifo-question-body">
    <p class="tifo-question-label"><b dir="auto">{{name}}</b> asks <span>{{upvotes}}</span></p>
    <p class="tifo-question-text" dir="auto">{{text}}</p>
  </div>
</section>`;
