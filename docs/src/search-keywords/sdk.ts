/** SDKs and the overlay gallery. */
export const SDK: Record<string, string> = {
  "/overlays/gallery":
    "kit, templates, lower third, scoreboard, score bug, countdown, ticker, sponsor, banner, graphics, line-up, examples, ready-made graphics, clock, l-shape, squeeze back, frame, crawl, news, sponsor logo, animation, designs, standings, table, vote bar, stats, possession, graphics library, graphic templates, sports graphics, prebuilt, bug, stats graphic, title animation, broadcast graphics, stat graphic, templates with variables, motion graphics, brand package, esports",
  "/overlays/gallery/breaking-news": "ticker, banner, headline, alert, news, news ticker, crawl, flash, news flash",
  "/overlays/gallery/card": "booking, caution, sent off, red card, yellow card graphic",
  "/overlays/gallery/chat-message": "chat on screen, show a comment, featured comment, highlight message",
  "/overlays/gallery/countdown": "timer, time left, starts in, half time countdown, starting soon, kick-off timer, countdown clock",
  "/overlays/gallery/final-result": "full time, final score, end of match, result graphic",
  "/overlays/gallery/goal": "goal graphic, goal animation, touchdown, scorer",
  "/overlays/gallery/line-up":
    "lineup, team sheet, starting eleven, formation, squad, line up graphic, starting xi, first eleven, team list",
  "/overlays/gallery/lower-third":
    "name strap, chyron, caption, name tag, speaker, title strap, astons, aston, super, nameplate, guest name, lower thirds",
  "/overlays/gallery/poll": "poll graphic, vote overlay, live results on screen, bar chart",
  "/overlays/gallery/question": "question graphic, audience question on screen",
  "/overlays/gallery/scorebug":
    "scoreboard, score bug, match clock, game clock, score graphic, running score, clock and score, score strip",
  "/overlays/gallery/sponsor":
    "advertisement, ad, logo, brand, partner, sponsor graphic, ad banner, advert banner, partner logo, commercial",
  "/overlays/gallery/substitution": "sub graphic, player change, subs, substitutes, player off",
  "/sdk/android":
    "kotlin, compose, google, fire tv, android tv, mobile app, exoplayer, media3, gradle, maven, install, dependency, java, jetpack compose, getting started, setup, chromecast, firetv, debug, logs, android app, kotlin client, okhttp, fire stick, google tv, android studio, retrofit, viewmodel, kotlin flow, kotlin multiplatform, jetpack, proguard, minimum sdk",
  "/sdk/android/api-ref": "coroutines, flow, classes, methods, exo player position, kotlin types",
  "/sdk/android/getting-started/ChatAndQuestions": "chat on android, q&a on android",
  "/sdk/android/getting-started/KeyPlays": "highlights, clips, timeline, moments",
  "/sdk/android/getting-started/TifoOverlayImplementation": "show overlays, compose, view, on video",
  "/sdk/android/getting-started/TifoPanelImplementation": "side panel, compose, view",
  "/sdk/android/getting-started/UpdatingEventData": "event data in android app, live updates android, view model",
  "/sdk/android/migration": "upgrade, breaking changes, new version",
  "/sdk/cli":
    "cli, command line, terminal, npx, scaffold, starter, boilerplate, tail, record, replay, init, export, log, watch events, local tool, shell, install cli, tail events, follow events, command line tool, replay events, scaffolding, stripe cli, init project, export from terminal, watch, debugging, tunnel, forward webhooks, ci, exit codes, json output, scripts, install globally, login from terminal, seed, mock match",
  "/sdk/ios":
    "iphone, ipad, swift, swiftui, apple, mobile app, swift package manager, spm, cocoapods, xcode, objective-c, ios app, sdk for iphone, iphone app, ios sdk, apple sdk, airplay, picture in picture, uikit, visionos, objective c, watchos, combine, async await, app store review",
  "/sdk/ios/components/admin-video-publisher":
    "camera, publish, go live from phone, broadcast from iphone, stream from app, stream from iphone, mobile broadcast",
  "/sdk/ios/components/chat-panel": "chat view, messages, comments",
  "/sdk/ios/components/client-video-player": "avplayer, play stream, hls, play video on ios, video view",
  "/sdk/ios/components/live-badge": "live indicator, on air label",
  "/sdk/ios/components/panel-control": "swiftui panel, tabs on iphone, panel picker",
  "/sdk/ios/getting-started/developing": "first screen, log in user, example app, sign in, debug",
  "/sdk/ios/getting-started/setup":
    "install, swift package manager, spm, cocoapods, xcode, dependency, permissions, info.plist, add to xcode, swift files, sdk install ios",
  "/sdk/roku":
    "brightscript, scenegraph, tv channel, channel store, install, tv, sdk for roku, getting started, roku channel, smart tv app, polls on roku, roku bridge, brightscript websocket, rokudev, sideload, roku tv, polling on roku, bridge server",
  "/sdk/roku/components": "scenegraph components, poll on roku, roku overlay",
  "/sdk/tvos":
    "apple tv, swift, swiftui, siri remote, swift package manager, spm, cocoapods, xcode, television app, apple tv app, tv app, smart tv app, focus engine, top shelf, apple tv 4k, uikit, tvml",
  "/sdk/tvos/components/TifoOverlay": "swiftui overlay, overlay on apple tv",
  "/sdk/tvos/components/TifoPanel": "swiftui panel, sidebar on apple tv",
  "/sdk/tvos/core-sdk/authenticateUser":
    "sign in, log in, pass token, jwt, sign in on television, pairing code, tv login, login on apple tv",
  "/sdk/tvos/core-sdk/deauthenticateUser": "sign out, log out",
  "/sdk/tvos/core-sdk/getCurrentJwt": "token, session",
  "/sdk/tvos/core-sdk/userDidStartWatchingEvent": "start watching, join, connect",
  "/sdk/tvos/core-sdk/userDidStopWatchingEvent": "stop watching, leave, disconnect",
  "/sdk/tvos/event-delegate/playClip": "highlight, seek, video clip",
  "/sdk/tvos/event-delegate/playPauseButtonPressed": "siri remote, remote button",
  "/sdk/tvos/event-delegate/shouldHideOverlay": "overlay visibility, keep overlay",
  "/sdk/tvos/event-delegate/shouldHidePanel": "panel visibility, keep panel open, player controls",
  "/sdk/tvos/event-delegate/shouldShowOverlay": "overlay visibility, suppress overlay, block overlay",
  "/sdk/tvos/event-delegate/shouldShowPanel": "panel visibility, allow panel, suppress panel",
  "/sdk/tvos/event-delegate/userRequestedLogin":
    "login screen, sign in button, login prompt, login screen on apple tv, ask viewer to sign in",
  "/sdk/tvos/getting-started": "install, swift package manager, spm, cocoapods, xcode, setup, simulator, apple tv simulator, first event",
  "/sdk/tvos/tifo-event-interface/panel-management": "open panel, close panel, menu button, remote, focus",
  "/sdk/web":
    "javascript, typescript, react, browser, website, script tag, npm, vue, svelte, angular, bundle size, package, client library, frontend, spa, browsers, web client, browser client, javascript sdk, js library, single script, browser support, tree shaking, headless, player overlay, deno, electron, capacitor, ionic, cordova, web view",
  "/sdk/web-legacy":
    "old sdk, legacy script, legacy embed, deprecated, tifolegacy, upgrade from old sdk, javascript global, window.tifo, old integration, jquery",
  "/sdk/web/core-sdk/configure": "initialise, initialize, init, options, site id, set up the sdk, token, environment",
  "/sdk/web/core-sdk/renderPanel": "show panel, side panel, sidebar, tab, mount, open panel",
  "/sdk/web/core-sdk/userDidStartWatchingEvent": "start watching, join channel, connect, open stream, begin session",
  "/sdk/web/core-sdk/userDidStopWatchingEvent": "stop watching, leave channel, disconnect, destroy, clean up, unmount",
  "/sdk/web/event-delegate/getUserToken": "jwt, pass token, signed in user, login state, auth callback",
  "/sdk/web/event-delegate/onPanelEvent": "panel callback, listener, panel opened, panel closed, viewer needs account, react to panel",
  "/sdk/web/event-delegate/playClip": "highlight, seek, video clip, jump to, replay moment",
  "/sdk/web/event-delegate/trackAction":
    "google analytics, segment, mixpanel, adobe analytics, clicks, track clicks, button tapped, viewer tapped, user interaction",
  "/sdk/web/event-delegate/trackImpression": "analytics, seen overlay, sponsor view, viewability, ad impression",
  "/sdk/web/event-delegate/userIsAuthenticated": "login state, signed in, logged in user",
  "/sdk/web/focus-management":
    "accessibility, a11y, keyboard, screen reader, remote control, smart tv, tizen, webos, focus trap, d-pad, arrow keys, samsung, lg, tv browser, tab order, aria, wcag, keyboard accessibility, keyboard navigation, screen readers, move focus, tv remote, accessible, lg webos, samsung tizen, hbbtv, spatial navigation, tv browsers, voiceover, nvda, talkback, tab key, skip, high contrast, contrast theme, forced colors",
  "/sdk/web/focus-management/parent-app-focus":
    "d-pad, arrow keys, remote control, host app, tv, give focus back, remote control focus, focus lost",
  "/sdk/web/getting-started":
    "npm, install, script tag, cdn, sri, integrity, csp, react, vue, svelte, angular, next.js, nextjs, vite, ssr, bundler, browser support, supported browsers, react native, bundle size, import, esm, typescript types, webpack, react hooks, server rendering, unpkg, jsdelivr, nonce, react hook, hooks, use with react, install package, yarn add, pnpm, es modules, subresource integrity, content security policy, next, electron, ionic, subresource, module federation, import map, esm.sh, typings, jest, testing, mock",
  "/sdk/web/overlays/integration-guide":
    "not showing, nothing appears, debug overlays, overlay missing, show overlays on page, react component, troubleshooting, container, mount, overlay button, call to action, click on overlay, cta, tapping the button, link in overlay, button in overlay, handle a click, overlay doesn't appear, blank, console error, first overlay on page, link button, open url, overlay stuck, overlay won't go away, overlay does not show, overlay isn't visible, overlay invisible, why does my overlay not show, no overlay",
  "/sdk/web/overlays/overlay-types":
    "how long an overlay stays, overlay disappears, disappears too fast, templates, variables, html overlay, instances, kit, duration, auto hide, seconds, html, image, video, text, fields, difference between template and instance, template or instance, kinds of overlays, lottie, video overlay, gif, image overlay, text overlay, interactive overlay, fullscreen overlay, priority, queue of overlays",
  "/sdk/web/overlays/positioning-and-styling":
    "two overlays at the same time, several overlays at once, css, colours, colors, fonts, corner, top left, z-index, safe area, theme, branding, layout, responsive, mobile, portrait, fullscreen, layer, behind controls, custom font, brand colours, margin, size, scale, overlap, place, move, top right, bottom, logo, where an overlay appears, change position, move overlay, change colours, change color, dark, white label, look and feel, rebrand, accent colour, css variables, custom properties, shadow dom, z index, aspect ratio, mobile layout, vertical video, picture in picture, cropped, cut off",
  "/sdk/web/overlays/rive-configuration": "animation, lottie, animated, wasm",
  "/sdk/web/tifo-event-interface/panel-management": "open panel, close panel, toggle, hide panel, current panel",
  "/sdk/web/tifo-event-interface/playback-controls": "sync, player position, pause, seek, current time, media time",
  "/sdk/web/tifo-event-interface/state":
    "react hook, subscribe to changes, store, current overlays, reactive state, observe, hooks, redux, zustand, usesyncexternalstore, viewer count in app, listen to changes, event emitter",
  "/sdk/web/user-settings":
    "preferences, hide overlays, mute, reduced motion, dark mode, opt out, turn overlays off, don't show, accessibility settings, viewer preferences, subtitles, user preferences, disable animations",
  "/sdk/web/web-components":
    "custom elements, plain html, wordpress, embed, no build, cms, iframe, vue, angular, html tag, no javascript, wix, webflow, html elements, chat element, poll element, squarespace, shadow dom, css parts, custom tags, lit, slots, attributes, embed widget",
};
