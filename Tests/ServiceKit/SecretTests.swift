import Testing

@testable import RTMServiceKit

@Suite("Secrets: from files, and seen by nobody")
struct SecretTests {
    @Test("a file that a variable names holds the value; one line end at its end is dropped")
    func fromFile() throws {
        let files = ["/run/a": "p w\n", "/run/b": "p w\r\n", "/run/c": "p w\n\n"]
        func password(_ path: String) throws -> String? {
            try RelayKeys.load([], ["RTM_RELAY_REDIS_PASSWORD_FILE": path], files: files)[RelayKeys.password]?
                .revealed
        }
        #expect(try password("/run/a") == "p w")
        #expect(try password("/run/b") == "p w")
        #expect(try password("/run/c") == "p w\n")
    }

    @Test(
        "a password in a URL is masked wherever the configuration is shown, and the mask is refused as a value"
    )
    func passwordInURL() throws {
        let url = "postgres://app:s3c:r@t@db1:5432/heliograph?sslpassword=hidden&sslmode=require"
        let configuration = try RelayKeys.load(["--directory", url, "--peers", "a,\(url)"])
        #expect(configuration[RelayKeys.directory] == url)
        let masked = "postgres://app:<masked>@db1:5432/heliograph?sslpassword=<masked>&sslmode=require"
        #expect(!configuration.yaml.contains("s3c") && !configuration.yaml.contains("hidden"))
        #expect(configuration.yaml.contains("directory: \"\(masked)\""))
        #expect(configuration.yaml.contains("peers: [a, \"\(masked)\"]"))
        for plain in ["postgres://app@db/heliograph", "http://[::1]:80/a:b@c", "user:word", "a@b:c"] {
            #expect(Secret.maskingPasswords(in: plain) == plain)
        }
        #expect(RelayKeys.problems(["--directory", masked]).count == 1)
    }

    @Test("a list of apps from a file may have one app per line")
    func appsFromFile() throws {
        let configuration = try RelayKeys.load([], ["RTM_APPS_FILE": "f"], files: ["f": "one:c1\ntwo\n"])
        #expect(configuration[CommonKeys.apps].map(\.id) == ["one", "two"])
        #expect(configuration[CommonKeys.apps].first?.certificate?.revealed == "c1")
        #expect(
            configuration.origin(of: CommonKeys.apps) == .secretFile(variable: "RTM_APPS_FILE", path: "f"))
    }

    @Test("a missing file, an empty one, and value and file together are refused")
    func badFiles() {
        let name = "RTM_RELAY_REDIS_PASSWORD"
        #expect(
            RelayKeys.problems([], [name + "_FILE": "f"])
                == [
                    "relay.redis.password (\(name)_FILE): can't read the file f: No such file or directory. "
                        + "Name a file that this user may read"
                ])
        #expect(
            RelayKeys.problems([], [name + "_FILE": "f"], files: ["f": "\n"])
                == ["relay.redis.password (\(name)_FILE, the file f): the value is empty"])
        #expect(
            RelayKeys.problems([], [name + "_FILE": "f", name: "x"], files: ["f": "y"])
                == [
                    "relay.redis.password (\(name)_FILE): is given by \(name) and by \(name)_FILE; "
                        + "keep one of them"
                ])
    }

    @Test("no printed form of a configuration or of a problem shows a secret")
    func masked() throws {
        let configuration = try RelayKeys.load(["--redis-password", "tops3cret", "--apps", "a:tops3cret,b"])
        #expect(!configuration.yaml.contains("tops3cret"))
        #expect(configuration.yaml.contains("password: \"<masked>\"  # --redis-password"))
        #expect(configuration.yaml.contains("apps: [{certificate: \"<masked>\", id: a}, {id: b}]  # --apps"))
        let secret = configuration[RelayKeys.password]
        #expect(!"\(String(describing: secret)) \(String(reflecting: secret))".contains("tops3cret"))
        var dumped = ""
        dump(configuration[CommonKeys.apps], to: &dumped)
        #expect(!dumped.contains("tops3cret"))
        let problems = RelayKeys.problems(["--apps", "a:tops3cret:x", "--redis-password="])
        #expect(problems.count == 2)
        #expect(!problems.joined().contains("tops3cret"))
    }

    @Test("a mask is refused as a value, unless a stronger source gives the secret")
    func maskIsRefused() throws {
        let masked = try RelayKeys.load(["--redis-password", "tops3cret", "--apps", "a:tops3cret"]).yaml
        #expect(
            RelayKeys.problems(["--config", "f"], files: ["f": masked]).map { $0.prefix { $0 != "(" } }
                == ["relay.redis.password ", "apps "])
        let again = try RelayKeys.load(
            ["--config", "f"], ["RTM_RELAY_REDIS_PASSWORD": "tops3cret", "RTM_APPS": "a:tops3cret"],
            files: ["f": masked])
        #expect(again[RelayKeys.password]?.revealed == "tops3cret")
    }
}
