package sim
import ("testing";"fmt";"os")
func TestDbg(t *testing.T){ if *seedFlag==0 {t.Skip()}; dbg = func(f string,a ...any){fmt.Fprintf(os.Stdout,"DBG "+f+"\n",a...)}; Run(*seedFlag, func(l string){fmt.Println(l)})}
