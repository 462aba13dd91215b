// A page as it was written for the vendor's script: everything is there when this runs, and nothing is a module.

var query = new URLSearchParams(location.search);
var seen = [];
AgoraRTM.setServers(query.get('server'));
var rtm = new AgoraRTM.RTM('dev', query.get('user'));
rtm.addEventListener('message', function (event) {
  seen.push(event.publisher + ': ' + event.message);
});
rtm
  .login({ token: null })
  .then(function () {
    return rtm.subscribe(query.get('channel'), null);
  })
  .then(function () {
    // The same by the client of its own, over the other script.
    var client = new Heliograph.RTMClient({ server: query.get('server'), appId: 'dev', userId: query.get('user') + '-2' });
    new Heliograph.Presence(client);
    return client.login().then(function () {
      return client.publish(query.get('channel'), 'from the other script');
    });
  });

/** Loads the script once more, by a tag that names the servers. */
function loadWithServers(servers) {
  return new Promise(function (resolve, reject) {
    var script = document.createElement('script');
    script.src = '/scripts/agora-rtm.js?again';
    script.dataset.server = servers;
    script.onload = function () {
      new AgoraRTM.RTM('dev', query.get('user') + '-3').login().then(resolve, reject);
    };
    document.head.append(script);
  });
}
